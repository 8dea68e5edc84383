// A PE waits for a collective on its device, and another member leaves the world.
#include "host/exchange/device_collective.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::control_group;
using detail::device_collective;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto limit = std::chrono::seconds(2);

config with_limit() {
  config settings = quick();
  settings.join_timeout = limit;
  return settings;
}

/// The collectives that PE 1 has enqueued before it leaves. PE 0 waits for the third collective.
struct leaver {
  int enqueued = 0;
  bool captured = false;  ///< whether PE 1 has also captured a collective into a graph
  milliseconds before_it{0};
  milliseconds before_the_wait{0};
};

/// The errors of the two PEs, and the time that PE 0 waited until the world failed.
std::pair<std::vector<std::optional<error>>, steady_clock::duration> wait_beside(const leaver& other) {
  steady_clock::duration lasted{};
  auto ends = run_threads(2, [&](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    if (exchange.rank() == 1) {
      for (int i = 0; i < other.enqueued; ++i) pe.control_plane.count_enqueued(false);
      if (other.captured) pe.control_plane.count_enqueued(true);
      std::this_thread::sleep_for(other.before_it);
      pe.control_plane.await_leave();
      return;
    }
    for (int i = 0; i < 2; ++i) pe.control_plane.count_enqueued(false);
    std::this_thread::sleep_for(other.before_the_wait);
    const auto begin = steady_clock::now();
    const device_collective waiting(pe.control_plane, "reduce");
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(milliseconds(5));
    lasted = steady_clock::now() - begin;
    pe.control_plane.check();
  });
  return {std::move(ends), lasted};
}

void expect_named(const std::vector<std::optional<error>>& ends) {
  expect_all(ends, code::asymmetric_call, 1, "is in reduce");
}

TEST(device_collective, a_member_that_leaves_without_having_enqueued_it_is_named_at_once) {
  for (const leaver& other : {leaver{2, false, milliseconds(200)}, leaver{2, false, {}, milliseconds(200)}, leaver{}}) {
    const auto [ends, lasted] = wait_beside(other);
    expect_named(ends);
    EXPECT_LT(lasted, limit);
  }
}

// The leader of the host passes the failure from PE 2 on to PE 1.
TEST(device_collective, a_member_that_leaves_is_named_at_a_member_that_is_not_its_neighbour) {
  steady_clock::duration lasted{};
  const auto ends = run_threads(3, [&](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    if (exchange.rank() == 2) pe.control_plane.await_leave();
    const auto begin = steady_clock::now();
    std::optional<device_collective> waiting;
    if (exchange.rank() == 1) waiting.emplace(pe.control_plane, "reduce");
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(milliseconds(5));
    if (exchange.rank() == 1) lasted = steady_clock::now() - begin;
    waiting.reset();
    pe.control_plane.check();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->pe(), 2);
    EXPECT_NE(std::string(end->what()).find("is in reduce"), std::string::npos) << end->what();
  }
  EXPECT_LT(lasted, limit);
}

TEST(device_collective, a_member_that_has_removed_the_group_is_named_after_the_limit) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    std::optional<control_group> both(std::in_place, pe.control_plane, 77, std::vector<int>{0, 1});
    if (exchange.rank() == 1) {
      both.reset();
      return pe.control_plane.await_leave();
    }
    const device_collective waiting(*both, "reduce");
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(milliseconds(5));
    pe.control_plane.check();
  });
  expect_named(ends);
}

TEST(device_collective, a_member_that_has_captured_a_collective_is_named_after_the_limit) {
  const auto [ends, lasted] = wait_beside({2, true});
  expect_named(ends);
  EXPECT_GE(lasted, limit);
}

TEST(device_collective, a_member_that_has_enqueued_it_may_leave_for_as_long_as_its_work_takes) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    const control_group both(pe.control_plane, 77, {0, 1});
    pe.control_plane.count_enqueued(false);
    both.count_enqueued(false);
    if (exchange.rank() == 1) {
      both.count_enqueued(false);
    } else {
      const device_collective waiting(both, "reduce");
      std::this_thread::sleep_for(limit + milliseconds(500));
      both.count_enqueued(false);
    }
    pe.control_plane.await_leave();
    pe.control_plane.leave();
  }));
}

TEST(device_collective, one_that_ends_in_time_is_no_failure) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    pe.control_plane.count_enqueued(true);
    // All waits together are longer than the limit, but no single wait is longer.
    for (int round = 0; exchange.rank() == 0 && round < 6; ++round) {
      const device_collective waiting(pe.control_plane, "reduce");
      std::this_thread::sleep_for(milliseconds(500));
    }
    pe.control_plane.await_leave();
    pe.control_plane.leave();
  }));
}

TEST(device_collective, thousands_of_groups_are_no_failure) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange, with_limit());
    std::vector<std::unique_ptr<control_group>> groups;
    for (std::uint64_t id = 100; id < 5100; ++id)
      groups.push_back(std::make_unique<control_group>(pe.control_plane, id, std::vector<int>{0, 1}));
    pe.control_plane.await_leave();
    pe.control_plane.leave();
  }));
}

}  // namespace
}  // namespace pgas::unit_test
