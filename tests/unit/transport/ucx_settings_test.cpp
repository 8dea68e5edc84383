#include "host/transport/ucx/ucx_settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "common/net/address.hpp"
#include "common/net/tcp_socket.hpp"
#include "scratch_folder.hpp"

namespace {

using pgas::detail::interface_of;
using pgas::detail::net_devices;
using pgas::detail::ucx_settings;

/// A folder like /sys/class/infiniband, which exists until the end of the scope.
class fake_sysfs {
 public:
  void add(const std::string& device, const std::string& port, const std::string& state) const {
    const auto folder = root_ / device / "ports" / port;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  const pgas::unit_test::scratch_folder folder_;
  const std::filesystem::path root_ = folder_.path();
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

/// The default values of the variables, by the names of the variables.
std::map<std::string, std::string> defaults(const ucx_settings& settings) {
  std::map<std::string, std::string> all;
  for (const auto& each : pgas::detail::ucx_defaults(settings)) all[each.variable] = each.value;
  return all;
}

/// Unsets the user's variables during each test, and sets them again afterwards.
class ucx_defaults : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) {
      if (const char* const value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : names) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  static constexpr auto names = {"UCX_TLS", "UCX_KEEPALIVE_INTERVAL", "UCX_MM_ERROR_HANDLING", "UCX_NET_DEVICES",
                                 "UCX_WARN_INVALID_CONFIG"};
  std::map<std::string, std::string> before_;
};

TEST_F(ucx_defaults, keep_pes_of_several_hosts_from_shared_memory) {
  const ucx_settings several{.one_host = false};
  EXPECT_FALSE(pgas::detail::may_use_shared_memory(several));
  EXPECT_EQ(defaults(several),
            (std::map<std::string, std::string>{{"UCX_KEEPALIVE_INTERVAL", "1s"}, {"UCX_TLS", "^shm"}}));
  EXPECT_EQ(defaults({.without_tcp = true}).at("UCX_TLS"), "^tcp");
  EXPECT_EQ(defaults({}).at("UCX_MM_ERROR_HANDLING"), "y");
}

TEST_F(ucx_defaults, exclude_tcp_between_hosts_unless_the_network_is_private) {
  const ucx_settings open{.one_host = false, .private_network = false, .devices = "eth0"};
  EXPECT_EQ(defaults(open).at("UCX_TLS"), "^shm,tcp");
  const std::filesystem::path ports = testing::TempDir() + "pgas_no_ports";
  try {
    pgas::detail::check_network(open, ports);
    ADD_FAILURE() << "expected an error";
  } catch (const pgas::error& refused) {
    EXPECT_EQ(refused.code(), pgas::code::transport_failed);
    for (const char* part : {"would use TCP on eth0", "set PGAS_PRIVATE_NETWORK=1 on all PEs"})
      EXPECT_NE(std::string(refused.what()).find(part), std::string::npos) << refused.what();
  }
  EXPECT_NE(pgas::detail::why_unreachable(open).find("PGAS_PRIVATE_NETWORK=1"), std::string::npos);
  pgas::detail::check_network({.one_host = false}, ports);                           // the network is private
  pgas::detail::check_network({.one_host = true, .private_network = false}, ports);  // no other host
  EXPECT_EQ(pgas::detail::why_unreachable({.private_network = false}), "");
  ::setenv("UCX_TLS", "tcp", 1);  // the user has chosen
  pgas::detail::check_network(open, ports);
  EXPECT_EQ(pgas::detail::why_unreachable(open), "");
}

TEST_F(ucx_defaults, leave_what_the_user_has_set) {
  ::setenv("UCX_KEEPALIVE_INTERVAL", "7s", 1);
  ::setenv("UCX_TLS", "tcp", 1);
  EXPECT_EQ(defaults({.without_tcp = true}), (std::map<std::string, std::string>{})) << "no shared memory, no TLS";
  ::setenv("UCX_TLS", "^tcp", 1);
  EXPECT_EQ(defaults({.devices = "eth0"}),
            (std::map<std::string, std::string>{
                {"UCX_MM_ERROR_HANDLING", "y"}, {"UCX_NET_DEVICES", "eth0"}, {"UCX_WARN_INVALID_CONFIG", "n"}}));
}

}  // namespace
