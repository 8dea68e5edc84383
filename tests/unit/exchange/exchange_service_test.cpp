// Collectives of the control plane among threads: results, their order, refused calls, and worlds one after another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::contribution;

class links_of : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, links_of, testing::Values(1, 2, 4, 8));

TEST_P(links_of, all_gather_brings_everyones_bytes_in_order) {
  const int n = GetParam();
  const holdings before = count_holdings();
  expect_no_error(run_threads(n, [n](bootstrap& exchange) {
    joined_pe pe(exchange);
    EXPECT_EQ(pe.control_plane.my_pe(), exchange.rank());
    EXPECT_EQ(pe.control_plane.n_pes(), n);
    for (int round = 0; round < 50; ++round) {
      const std::string mine(static_cast<std::size_t>(pe.control_plane.my_pe() * round),
                             static_cast<char>('a' + round % 26));
      const auto all = pe.control_plane.all_gather(bytes_of(mine));
      ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
      for (int other = 0; other < n; ++other) {
        const contribution& theirs = all[static_cast<std::size_t>(other)];
        EXPECT_EQ(text_of(theirs.bytes),
                  std::string(static_cast<std::size_t>(other * round), static_cast<char>('a' + round % 26)));
        EXPECT_TRUE(theirs.fds.empty());
      }
    }
    pe.control_plane.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(links_of, pes_at_different_speed_do_not_mix_rounds) {
  const int n = GetParam();
  expect_no_error(run_threads(n, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    std::minstd_rand random(static_cast<unsigned>(exchange.rank() + 1));
    for (int round = 0; round < 100; ++round) {
      if (random() % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      if (round % 3 == 0) pe.control_plane.barrier();
      for (const contribution& theirs : pe.control_plane.all_gather(bytes_of(std::to_string(round))))
        ASSERT_EQ(text_of(theirs.bytes), std::to_string(round));
    }
    pe.control_plane.leave();
  }));
}

TEST_P(links_of, descriptors_travel_and_close_on_exec) {
  const int n = GetParam();
  const holdings before = count_holdings();
  expect_no_error(run_threads(n, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const detail::unique_fd read_end(pipe[0]);
    const detail::unique_fd write_end(pipe[1]);
    auto all = pe.control_plane.all_gather(bytes_of("x"), std::span(pipe));
    for (int other = 0; other < pe.control_plane.n_pes(); ++other) {
      contribution& theirs = all[static_cast<std::size_t>(other)];
      EXPECT_FALSE(theirs.fds_lost);
      if (other == pe.control_plane.my_pe()) {
        EXPECT_TRUE(theirs.fds.empty());
        continue;
      }
      ASSERT_EQ(theirs.fds.size(), 2u);
      EXPECT_TRUE(::fcntl(theirs.fds[1].get(), F_GETFD) & FD_CLOEXEC);
      const auto me = static_cast<char>(pe.control_plane.my_pe());
      EXPECT_EQ(::write(theirs.fds[1].get(), &me, 1), 1);
    }
    pe.control_plane.barrier();
    std::vector<bool> seen(static_cast<std::size_t>(pe.control_plane.n_pes()));
    for (int i = 1; i < pe.control_plane.n_pes(); ++i) {
      signed char who = -1;
      ASSERT_EQ(::read(read_end.get(), &who, 1), 1);
      seen.at(static_cast<std::size_t>(who)) = true;
    }
    for (int other = 0; other < pe.control_plane.n_pes(); ++other)
      EXPECT_EQ(seen[static_cast<std::size_t>(other)], other != pe.control_plane.my_pe());
    pe.control_plane.leave();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(control_plane, a_barrier_holds_everyone_back) {
  std::atomic<int> arrived{0};
  expect_no_error(run_threads(4, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    for (int round = 1; round <= 20; ++round) {
      if (pe.control_plane.my_pe() == round % 4) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++arrived;
      pe.control_plane.barrier();
      EXPECT_GE(arrived.load(), 4 * round);
    }
    pe.control_plane.leave();
  }));
}

TEST(control_plane, peers_know_host_process_and_local_rank) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  run_threads(3, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    for (int other = 0; other < 3; ++other) {
      EXPECT_EQ(pe.control_plane.peer(other).host, host);
      EXPECT_EQ(pe.control_plane.peer(other).pid, ::getpid());
      EXPECT_EQ(pe.control_plane.peer(other).local_rank, other);
    }
    EXPECT_THROW(static_cast<void>(pe.control_plane.peer(3)), error);
    EXPECT_THROW(static_cast<void>(pe.control_plane.peer(-1)), error);
    pe.control_plane.leave();
  });
}

TEST(control_plane, the_largest_contribution_fits_and_a_larger_one_is_refused_before_anything_is_sent) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const blob largest(std::size_t{64} << 10, std::byte{7});
    for (int i = 0; i < 10; ++i)
      for (const contribution& theirs : pe.control_plane.all_gather(largest)) EXPECT_EQ(theirs.bytes, largest);
    try {
      static_cast<void>(pe.control_plane.all_gather(blob(largest.size() + 1)));
      ADD_FAILURE() << "too many bytes were taken";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), code::invalid_argument);
    }
    const int closed[] = {1'000'000};
    try {
      static_cast<void>(pe.control_plane.all_gather({}, closed));
      ADD_FAILURE() << "a closed descriptor was taken";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), code::invalid_argument);
    }
    pe.control_plane.barrier();  // after the refusals all PEs are in the same call
    pe.control_plane.leave();
  }));
}

TEST(control_plane, two_worlds_at_once_and_one_after_another_of_changing_size) {
  const holdings before = count_holdings();
  for (const int n : {2, 4, 2, 1, 3}) {
    expect_no_error(run_threads(n, [n](bootstrap& first) {
      joined_pe one(first);
      EXPECT_EQ(one.control_plane.n_pes(), n);
      one.control_plane.barrier();
      one.control_plane.leave();
    }));
  }
  auto second = make_thread_bootstraps(3, std::chrono::seconds(30));
  expect_no_error(run_threads(3, [&](bootstrap& first) {
    // The second world numbers its PEs in reverse order.
    joined_pe one(first);
    joined_pe two(*second[static_cast<std::size_t>(2 - first.rank())]);
    for (int round = 0; round < 20; ++round) {
      const auto a = one.control_plane.all_gather(bytes_of("one" + std::to_string(one.control_plane.my_pe())));
      const auto b = two.control_plane.all_gather(bytes_of("two" + std::to_string(two.control_plane.my_pe())));
      for (std::size_t pe = 0; pe < 3; ++pe) {
        EXPECT_EQ(text_of(a[pe].bytes), "one" + std::to_string(pe));
        EXPECT_EQ(text_of(b[pe].bytes), "two" + std::to_string(pe));
      }
    }
    one.control_plane.leave();
    two.control_plane.barrier();
    two.control_plane.leave();
  }));
  second.clear();
  EXPECT_EQ(settle_at(before), before);
}

TEST(control_plane, nothing_can_be_called_after_leaving) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.leave();
    try {
      pe.control_plane.barrier();
      ADD_FAILURE() << "a barrier after leave() returned";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), code::not_joined);
    }
    pe.control_plane.fail("too late to matter");
    EXPECT_FALSE(pe.control_plane.failed());
  }));
}

/// Two PEs leave. PE 1 continues when `works` returns, as if its streams had work. Returns the error of each PE.
std::vector<std::optional<error>> leave_late(const config& settings,
                                             const std::function<void(const detail::control_plane&)>& works) {
  return run_threads(2, [&](bootstrap& exchange) {
    joined_pe pe(exchange, settings);
    pe.control_plane.await_leave();
    if (exchange.rank() == 1) works(pe.control_plane);
    pe.control_plane.leave();
  });
}

TEST(control_plane, leaving_waits_for_the_streams_of_others_as_long_as_they_may_work) {
  config settings = quick();
  settings.wait_timeout = std::chrono::seconds(1);
  const auto ends = leave_late(settings, [](const auto&) { std::this_thread::sleep_for(std::chrono::seconds(2)); });
  expect_no_error(ends);
}

TEST(control_plane, leaving_ends_where_a_pe_goes_on_after_neither_limit) {
  config settings = quick();
  settings.wait_timeout = std::chrono::seconds(1);
  settings.join_timeout = std::chrono::milliseconds(1500);
  const auto ends = leave_late(settings, [](const detail::control_plane& of) {
    while (!of.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout);
    EXPECT_EQ(end->pe(), 1);
    EXPECT_TRUE(says(end, "waited 2500 ms for PE 1")) << end->what();
    EXPECT_TRUE(says(end, "PGAS_JOIN_TIMEOUT")) << end->what();
    EXPECT_TRUE(says(end, "PGAS_WAIT_TIMEOUT")) << end->what();
  }
}

}  // namespace
}  // namespace pgas::unit_test
