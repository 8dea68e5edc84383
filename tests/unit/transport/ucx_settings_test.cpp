#include "host/transport/ucx/ucx_settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "common/net/address.hpp"
#include "common/net/tcp_socket.hpp"

namespace {

using pgas::detail::interface_of;
using pgas::detail::net_devices;

/// A folder like /sys/class/infiniband, which exists until the end of the scope.
class fake_sysfs {
 public:
  fake_sysfs() : root_(std::filesystem::temp_directory_path() / ("pgas-ib-" + std::to_string(::getpid()))) {}
  ~fake_sysfs() { std::filesystem::remove_all(root_); }
  void add(const std::string& device, const std::string& port, const std::string& state) const {
    const auto folder = root_ / device / "ports" / port;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  const std::filesystem::path root_;
};

TEST(net_devices, are_the_interfaces_and_all_infiniband_that_is_up) {
  const fake_sysfs sysfs;
  sysfs.add("mlx5_1", "1", "4: ACTIVE");
  sysfs.add("mlx5_0", "2", "4: ACTIVE");
  sysfs.add("mlx5_0", "1", "1: DOWN");
  EXPECT_EQ(net_devices({"eth1", "eth0", "eth1"}, sysfs.root()), "eth0,eth1,mlx5_0:2,mlx5_1:1");
}

TEST(net_devices, are_left_to_ucx_where_no_interface_is_known) {
  const fake_sysfs sysfs;
  sysfs.add("mlx5_0", "1", "4: ACTIVE");
  EXPECT_EQ(net_devices({}, sysfs.root()), "");
}

TEST(net_devices, need_no_infiniband) { EXPECT_EQ(net_devices({"eth0"}, "/no/such/folder"), "eth0"); }

TEST(net_devices, of_a_connection_is_that_with_its_address) {
  const pgas::detail::tcp_listener listener = pgas::detail::listen_anywhere();
  const auto local = pgas::detail::tcp_address::parse("127.0.0.1:" + std::to_string(listener.port()));
  const pgas::detail::connect_result calling = pgas::detail::begin_connect(*local);
  EXPECT_EQ(interface_of(calling.fd.get()), "lo");
  pgas::detail::tcp_listener::caller answering;  // an IPv4 address in the form of an IPv6 address
  while (!answering.fd) answering = listener.accept();
  EXPECT_EQ(interface_of(answering.fd.get()), "lo");
  EXPECT_EQ(interface_of(listener.fd()), "") << "it has no address of its own";
}

}  // namespace
