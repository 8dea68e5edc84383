/// @file
/// The CPUs of the NUMA node of a PCI device. An affinity_scope keeps threads, and the memory that they touch first, on
/// this node.
#pragma once

#include <sched.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pgas::detail {

struct locality {
  int node = -1;          ///< the NUMA node; -1 if it is unknown or the only node
  std::vector<int> cpus;  ///< the `allowed` CPUs of the node; empty if unknown, or if the node has all or none of them
};

/// @param pci "0000:19:00.0"; empty: no device @param devices the operating system's list of devices
[[nodiscard]] locality locality_of(const std::string& pci, const std::vector<int>& allowed,
                                   const std::filesystem::path& devices = "/sys/bus/pci/devices");

/// The CPUs that the calling thread may use; empty if the operating system does not report them.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Pins the calling thread to these CPUs during a scope. Threads that are started in the scope stay pinned after the
/// scope. Has no effect with an empty list.
class affinity_scope {
 public:
  explicit affinity_scope(const std::vector<int>& cpus) noexcept;
  ~affinity_scope();
  affinity_scope(const affinity_scope&) = delete;
  affinity_scope& operator=(const affinity_scope&) = delete;

 private:
  cpu_set_t before_;
  bool moved_ = false;
};

}  // namespace pgas::detail
