// A thread that observes a failure may end the process immediately. By then, the neighbours have the cause.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comes.hpp"
#include "host/failure/world_failure.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::world_failure;
using pgas_test::comes;
using std::chrono::milliseconds;

struct quiet_failure {
  explicit quiet_failure(world_failure::steps steps) : failure(log, std::move(steps), error(code::system, "memory")) {}
  log::logger log{log_level::error, "/dev/null"};
  world_failure failure;
};

TEST(world_failure, the_peers_are_told_first_and_waiting_threads_are_woken_last) {
  std::vector<std::string> order;
  world_failure* of = nullptr;
  const auto note = [&](const char* step) { order.push_back(std::string(step) + (of->failed() ? " failed" : "")); };
  quiet_failure one({.tell_peers = [&](const error&) { note("peers"); },
                     .on_failure = [&](const error&) { note("device"); },
                     .wake = [&] { note("wake"); }});
  of = &one.failure;
  one.failure.set(error(code::aborted, "first"));
  EXPECT_EQ(order, (std::vector<std::string>{"peers", "device", "wake failed"}));
  one.failure.set(error(code::aborted, "second"));
  EXPECT_EQ(order.size(), 3u);
  EXPECT_TRUE(says(thrown_by([&] { one.failure.check(); }), "first"));
}

TEST(world_failure, a_step_that_throws_does_not_prevent_the_next_steps) {
  int steps = 0;
  quiet_failure one({.tell_peers = [](const error&) { throw std::bad_alloc(); },
                     .on_failure =
                         [&](const error&) {
                           ++steps;
                           throw std::bad_alloc();
                         },
                     .wake = [&] { ++steps; }});
  one.failure.set(error(code::aborted, "first"));
  EXPECT_TRUE(one.failure.failed());
  EXPECT_EQ(steps, 2);
}

TEST(world_failure, a_thread_with_a_later_failure_waits_until_the_peers_are_told_of_the_first) {
  std::atomic<bool> returned{false};
  std::atomic<bool> was_told{false};
  std::thread later;
  quiet_failure* all = nullptr;
  quiet_failure one({.tell_peers =
                         [&](const error&) {
                           later = std::thread([&] {
                             all->failure.set(error(code::aborted, "second"));
                             returned = true;
                           });
                           EXPECT_FALSE(comes([&] { return returned.load(); }, milliseconds(200)));
                           was_told = true;
                         },
                     .on_failure = {},
                     .wake = {}});
  all = &one;
  one.failure.set(error(code::aborted, "first"));
  later.join();
  EXPECT_TRUE(was_told);
}

TEST(world_failure, a_check_waits_until_the_peers_are_told) {
  std::atomic<bool> thrown{false};
  std::thread checking;
  quiet_failure* all = nullptr;
  quiet_failure one({.tell_peers =
                         [&](const error&) {
                           checking = std::thread([&] {
                             EXPECT_TRUE(says(thrown_by([&] { all->failure.check(); }), "first"));
                             thrown = true;
                           });
                           EXPECT_FALSE(comes([&] { return thrown.load(); }, milliseconds(200)));
                         },
                     .on_failure = {},
                     .wake = {}});
  all = &one;
  one.failure.set(error(code::aborted, "first"));
  checking.join();
}

/// How the leader of the first host, PE 0, learns of a failure.
struct way {
  const char* name;
  enum code expected;
  int named;                                           ///< the PE that the failure names; -1: PE 0 or 1
  std::function<void(detail::control_plane&)> leader;  ///< called by PE 0
  std::function<void(detail::control_plane&)> other;   ///< called by PE 1
};

void wait(detail::control_plane& of) { of.barrier(); }
void gather(detail::control_plane& of) { static_cast<void>(of.all_gather({})); }

class leader_ends : public testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(
    failure_order, leader_ends,
    testing::Values(way{"by_its_reader", code::peer_lost, 1, wait, [](auto&) { ::kill(::getpid(), SIGKILL); }},
                    way{"from_a_message", code::aborted, 1, wait, [](auto& of) { of.fail("the soup is cold"); }},
                    way{"from_its_program", code::aborted, 0, [](auto& of) { of.fail("the soup is cold"); }, wait},
                    way{"from_the_launcher", code::peer_lost, 1, [](auto& of) { of.on_launcher_report(1, "killed"); },
                        [](auto&) {}},
                    way{"by_another_call", code::asymmetric_call, -1, wait, gather},
                    way{"by_a_pe_that_leaves", code::asymmetric_call, 1, wait,
                        [](auto& of) {
                          of.await_leave();
                          of.leave();
                        }}),
    [](const auto& of) { return of.param.name; });

// A program first sees a failure in the callback, which sets the abort word that waiting kernels poll.
TEST_P(leader_ends, at_the_first_sign_of_a_failure_and_every_other_pe_has_its_cause) {
  const way& how = GetParam();
  const auto ends = run_processes_on({1, 1, 1, 2, 2}, [&](bootstrap& exchange) {
    const bool leads = exchange.rank() == 0;
    joined_pe pe(exchange, quick(), [leads](const error&) {
      if (leads) ::_exit(0);
    });
    pe.control_plane.barrier();
    const auto end = thrown_by([&] {
      if (leads) {
        how.leader(pe.control_plane);
        ::pause();  // waits until the callback ends this process
      }
      if (exchange.rank() == 1) {
        how.other(pe.control_plane);
        while (!pe.control_plane.failed()) std::this_thread::sleep_for(milliseconds(1));
        pe.control_plane.check();
      }
      pe.control_plane.barrier();
    });
    require(end && end->code() == how.expected && (how.named < 0 || end->pe() == how.named),
            end ? end->what() : "an error");
  });
  for (const std::size_t pe : {2u, 3u, 4u}) EXPECT_EQ(ends[pe].message, "") << "PE " << pe;
}

}  // namespace
}  // namespace pgas::unit_test
