#include "host/topology/numa_affinity.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "scratch_folder.hpp"

namespace pgas::unit_test {
namespace {

using detail::affinity_scope;
using detail::allowed_cpus;
using detail::locality_of;
using cpus = std::vector<int>;

/// A folder like /sys/bus/pci/devices, which exists until the end of the scope.
class fake_devices {
 public:
  void add(const std::string& pci, const std::string& node, const std::string& list) const {
    std::filesystem::create_directories(root_ / pci);
    std::ofstream(root_ / pci / "numa_node") << node << "\n";
    std::ofstream(root_ / pci / "local_cpulist") << list << "\n";
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  const scratch_folder folder_;
  const std::filesystem::path root_ = folder_.path();
};

TEST(locality, is_the_node_and_its_cpus_that_are_allowed) {
  const fake_devices sysfs;
  sysfs.add("0000:19:00.0", "1", "4-7,12,14-15");
  const auto found = locality_of("0000:19:00.0", {0, 1, 5, 6, 7, 12, 13, 15}, sysfs.root());
  EXPECT_EQ(found.node, 1);
  EXPECT_EQ(found.cpus, (cpus{5, 6, 7, 12, 15}));
}

TEST(locality, gives_no_cpus_where_none_or_all_that_are_allowed_are_near) {
  const fake_devices sysfs;
  sysfs.add("0000:19:00.0", "0", "0-3");
  EXPECT_EQ(locality_of("0000:19:00.0", {4, 5}, sysfs.root()).cpus, cpus{});
  EXPECT_EQ(locality_of("0000:19:00.0", {1, 2}, sysfs.root()).cpus, cpus{});
}

TEST(locality, of_what_the_kernel_does_not_know_is_none) {
  const fake_devices sysfs;
  sysfs.add("0000:1a:00.0", "-1", "0-3");
  sysfs.add("0000:1b:00.0", "1", "rubbish");
  for (const char* pci : {"", "0000:19:00.0", "0000:1a:00.0", "0000:1b:00.0"})
    EXPECT_EQ(locality_of(pci, {0, 1, 2, 3, 4}, sysfs.root()).cpus, cpus{}) << pci;
}

TEST(locality, is_kept_by_threads_that_are_started_there) {
  const cpus before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  cpus of_thread;
  std::thread started;
  {
    const affinity_scope last({before.back()});
    EXPECT_EQ(allowed_cpus(), cpus{before.back()});
    started = std::thread([&] { of_thread = allowed_cpus(); });
  }
  started.join();
  EXPECT_EQ(of_thread, cpus{before.back()});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(locality, of_no_cpus_moves_nobody) {
  const cpus before = allowed_cpus();
  const affinity_scope none({});
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace pgas::unit_test
