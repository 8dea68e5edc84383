// The control plane over several hosts: the same collectives over UNIX sockets and TCP.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::contribution;
using detail::control_group;

std::string name_of(const testing::TestParamInfo<std::vector<int>>& hosts) {
  std::string name = "on";
  for (const int host : hosts.param) name += "_" + std::to_string(host);
  return name;
}

/// The parameter is the host of each PE.
class control_plane_on : public testing::TestWithParam<std::vector<int>> {};
INSTANTIATE_TEST_SUITE_P(hosts, control_plane_on,
                         testing::Values(std::vector<int>{0, 1}, std::vector<int>{0, 0, 1, 1},
                                         std::vector<int>{0, 1, 1, 1}, std::vector<int>{0, 1, 0, 1},
                                         std::vector<int>{0, 1, 2}),
                         name_of);

TEST_P(control_plane_on, all_gather_brings_everyones_bytes_in_order) {
  const holdings before = count_holdings();
  expect_no_error(run_threads_on(GetParam(), [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const int n = pe.control_plane.n_pes();
    for (int round = 0; round < 50; ++round) {
      const std::string mine(static_cast<std::size_t>(pe.control_plane.my_pe() * round),
                             static_cast<char>('a' + round % 26));
      const auto all = pe.control_plane.all_gather(bytes_of(mine));
      ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
      for (int other = 0; other < n; ++other)
        EXPECT_EQ(text_of(all[static_cast<std::size_t>(other)].bytes),
                  std::string(static_cast<std::size_t>(other * round), static_cast<char>('a' + round % 26)));
    }
    pe.control_plane.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(control_plane_on, the_largest_contributions_arrive) {
  expect_no_error(run_threads_on(GetParam(), [](bootstrap& exchange) {
    joined_pe pe(exchange);
    blob largest(std::size_t{64} << 10);
    std::minstd_rand random(7);
    for (std::byte& b : largest) b = static_cast<std::byte>(random());
    for (int i = 0; i < 20; ++i)
      for (const contribution& theirs : pe.control_plane.all_gather(largest)) EXPECT_EQ(theirs.bytes, largest);
    const auto refused = thrown_by([&] { static_cast<void>(pe.control_plane.all_gather(blob(largest.size() + 1))); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), code::invalid_argument);
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
}

TEST_P(control_plane_on, barriers_hold_everyone_back_and_rounds_do_not_mix) {
  const int n = static_cast<int>(GetParam().size());
  std::atomic<int> arrived{0};
  expect_no_error(run_threads_on(GetParam(), [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    std::minstd_rand random(static_cast<unsigned>(exchange.rank() + 1));
    for (int round = 1; round <= 50; ++round) {
      if (random() % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      ++arrived;
      pe.control_plane.barrier();
      EXPECT_GE(arrived.load(), n * round);
      for (const contribution& theirs : pe.control_plane.all_gather(bytes_of(std::to_string(round))))
        ASSERT_EQ(text_of(theirs.bytes), std::to_string(round));
    }
    pe.control_plane.leave();
  }));
}

TEST_P(control_plane_on, pes_agree_on_who_is_where) {
  const std::vector<int> hosts = GetParam();
  expect_no_error(run_threads_on(hosts, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    for (int other = 0; other < pe.control_plane.n_pes(); ++other) {
      const detail::peer_info& about = pe.control_plane.peer(other);
      const auto index = static_cast<std::size_t>(other);
      EXPECT_EQ(about.host_index, hosts[index]);
      EXPECT_EQ(about.local_rank, std::count(hosts.begin(), hosts.begin() + other, hosts[index]));
      EXPECT_EQ(about.pid, ::getpid());
      if (hosts[index] == 0) continue;
      EXPECT_EQ(about.host, "host-" + std::to_string(hosts[index]));
    }
    pe.control_plane.leave();
  }));
}

TEST_P(control_plane_on, descriptors_stay_inside_a_host) {
  const std::vector<int> hosts = GetParam();
  const holdings before = count_holdings();
  expect_no_error(run_threads_on(hosts, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    const int me = pe.control_plane.my_pe();
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const detail::unique_fd read_end(pipe[0]);
    const detail::unique_fd write_end(pipe[1]);
    auto all = pe.control_plane.all_gather(bytes_of("x"), std::span(pipe));
    int neighbours = 0;
    for (int other = 0; other < pe.control_plane.n_pes(); ++other) {
      contribution& theirs = all[static_cast<std::size_t>(other)];
      const bool near = hosts[static_cast<std::size_t>(other)] == hosts[static_cast<std::size_t>(me)];
      EXPECT_EQ(text_of(theirs.bytes), "x");
      EXPECT_FALSE(theirs.fds_lost);
      EXPECT_EQ(theirs.fds.size(), near && other != me ? 2u : 0u);
      if (theirs.fds.empty()) continue;
      ++neighbours;
      EXPECT_EQ(::write(theirs.fds[1].get(), "!", 1), 1);
    }
    pe.control_plane.barrier();
    char text[16];
    for (int i = 0; i < neighbours; ++i) EXPECT_EQ(::read(read_end.get(), text, 1), 1);
    pe.control_plane.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(control_plane_on, groups_at_once_from_several_threads_do_not_mix) {
  const int n = static_cast<int>(GetParam().size());
  expect_no_error(run_threads_on(GetParam(), [n](bootstrap& exchange) {
    joined_pe pe(exchange);
    std::vector<int> backwards;
    for (int other = n - 1; other >= 0; --other) backwards.push_back(other);
    const auto exchange_in = [](const control_group& group, int pending_collectives, std::size_t bytes) {
      for (int round = 0; round < pending_collectives; ++round) {
        const auto letter = [&](int member) { return static_cast<char>('a' + (group.world_pe(member) + round) % 26); };
        const auto all = group.all_gather(bytes_of(std::string(bytes, letter(group.my_pe()))));
        for (int i = 0; i < group.n_pes(); ++i)
          ASSERT_EQ(text_of(all[static_cast<std::size_t>(i)].bytes), std::string(bytes, letter(i)));
      }
    };
    const control_group all(pe.control_plane, 1001, backwards);
    std::vector<std::thread> threads;
    threads.emplace_back([&] { exchange_in(all, 60, 50'000); });
    threads.emplace_back([&] { exchange_in(pe.control_plane, 200, 3); });
    if (exchange.rank() == 0 || exchange.rank() == n - 1)
      threads.emplace_back([&] { exchange_in(control_group(pe.control_plane, 1002, {n - 1, 0}), 150, 1000); });
    for (std::thread& thread : threads) thread.join();
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
}

TEST(links_hosts, worlds_come_and_go_at_once_and_leave_nothing) {
  const holdings before = count_holdings();
  for (int repeat = 0; repeat < 5; ++repeat) {
    expect_no_error(run_threads_on({0, 1, 1}, [](bootstrap& exchange) {
      joined_pe pe(exchange);
      pe.control_plane.leave();
    }));
  }
  EXPECT_EQ(settle_at(before), before);
}

TEST(links_hosts, pes_that_have_nothing_to_say_are_not_taken_for_silent) {
  expect_no_error(run_threads_on({0, 1, 0}, [](bootstrap& exchange) {
    config settings = quick();
    // The smallest limit applies to all PEs, so the other PEs send heartbeats often enough.
    settings.heartbeat_timeout =
        exchange.rank() == 0 ? std::chrono::milliseconds(2000) : std::chrono::milliseconds(3'600'000);
    joined_pe pe(exchange, settings);
    pe.control_plane.barrier();
    const detail::control_statistics before = pe.control_plane.statistics();
    std::this_thread::sleep_for(std::chrono::milliseconds(4500));
    const detail::control_statistics after = pe.control_plane.statistics();
    ASSERT_EQ(after.silence.size(), 3u);
    if (exchange.rank() == 2) {
      EXPECT_EQ(after.heartbeats_sent, 0u) << "it is no leader";
    } else {
      EXPECT_GE(after.heartbeats_sent, before.heartbeats_sent + 2);
      EXPECT_GE(after.heartbeats_received, before.heartbeats_received + 2);
    }
    for (int other = 0; other < 3; ++other)
      EXPECT_EQ(after.silence[static_cast<std::size_t>(other)].has_value(), other + exchange.rank() == 1)
          << "only the leaders of two hosts send heartbeats to one another";
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
}

TEST(links_hosts, an_interface_can_be_chosen_and_one_that_does_not_exist_is_explained_on_every_pe) {
  const holdings before = count_holdings();
  const auto with = [](const std::string& of_pe_1) {
    return run_threads_on({0, 1, 1}, [&](bootstrap& exchange) {
      config settings = quick();
      settings.socket_ifname = exchange.rank() == 1 ? of_pe_1 : "lo";
      joined_pe pe(exchange, settings);
      pe.control_plane.barrier();
      pe.control_plane.leave();
    });
  };
  expect_no_error(with("lo"));
  for (const auto& end : with("warp9")) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->pe(), 1);
    EXPECT_TRUE(says(end, "PGAS_SOCKET_IFNAME=warp9")) << end->what();
    EXPECT_TRUE(says(end, "lo")) << end->what();
    EXPECT_TRUE(says(end, "PE 1 (host host-1)")) << end->what();
  }
  EXPECT_EQ(settle_at(before), before);
}

}  // namespace
}  // namespace pgas::unit_test
