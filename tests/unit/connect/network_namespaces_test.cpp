// Two hosts on one machine: two network namespaces, with or without a cable between them.
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

bool can_lay_cables() {
  return ::geteuid() == 0 && ::system("unshare -n ip link add cable0 type veth peer name cable1 >/dev/null 2>&1") == 0;
}

void shell(const std::string& command) { require(::system(command.c_str()) == 0, command); }

/// Puts each of two processes into a new network namespace, and makes a cable between the two.
void lay_cable(bootstrap& exchange) {
  require(::unshare(CLONE_NEWNET) == 0, "a network namespace of its own");
  const auto pids = exchange.all_gather(bytes_of(std::to_string(::getpid())));
  if (exchange.rank() == 0) shell("ip link add cable0 type veth peer name cable1 netns " + text_of(pids[1]));
  exchange.barrier();
  const std::string me = std::to_string(exchange.rank());
  shell("ip addr add 10.99.0." + std::to_string(exchange.rank() + 1) + "/24 dev cable" + me);
  shell("ip link set cable" + me + " up");
  exchange.barrier();
}

TEST(network_namespaces, are_hosts_that_meet_over_the_network) {
  if (!can_lay_cables()) GTEST_SKIP() << "makes network namespaces and veth devices, which needs root, ip and unshare";
  const scratch_folder logs;
  const auto ends = run_processes(2, [&](bootstrap& exchange) {
    lay_cable(exchange);
    config settings = quick();
    settings.log_file = logs.path() + "/log";
    joined_pe pe(exchange, settings);
    require(pe.control_plane.peer(1).host_index == 1, "two hosts");
    for (int round = 0; round < 20; ++round) {
      const blob largest(std::size_t{64} << 10, static_cast<std::byte>(round));
      for (const auto& theirs : pe.control_plane.all_gather(largest)) require(theirs.bytes == largest, "what was sent");
    }
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
  EXPECT_EQ(count_with(lines_of(logs.path() + "/log"), "PGAS_SOCKET_DIR"), 1u) << "how to make them one host";
}

TEST(network_namespaces, a_cable_that_is_pulled_is_noticed_at_both_ends) {
  if (!can_lay_cables()) GTEST_SKIP() << "makes network namespaces and veth devices, which needs root, ip and unshare";
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    lay_cable(exchange);
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(0);
    settings.heartbeat_timeout = std::chrono::milliseconds(1000);
    joined_pe pe(exchange, settings);
    pe.control_plane.barrier();
    if (exchange.rank() == 0) shell("ip link set cable0 down");
    const auto end = thrown_by([&] {
      for (;;) pe.control_plane.barrier();
    });
    const int other = 1 - exchange.rank();
    require(end && end->code() == code::peer_lost && end->pe() == other, end ? end->what() : "an error");
    require(says(end, "PE " + std::to_string(other)) && says(end, "has not been heard of for 1 s"), end->what());
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(network_namespaces, without_a_network_between_them_say_what_was_tried) {
  if (!can_lay_cables()) GTEST_SKIP() << "makes network namespaces and veth devices, which needs root, ip and unshare";
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    lay_cable(exchange);
    if (exchange.rank() == 1) shell("ip addr del 10.99.0.2/24 dev cable1");
    config settings = quick();
    settings.join_timeout = std::chrono::seconds(2);
    const auto end = thrown_by([&] { const joined_pe pe(exchange, settings); });
    require(end && end->code() == code::peer_unreachable && end->pe() == 0, end ? end->what() : "an error");
    require(says(end, "PE 0 (host ") && says(end, "10.99.0.1:") && says(end, "unreachable"), end->what());
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

}  // namespace
}  // namespace pgas::unit_test
