// Teams of threads and of forked processes: their data, many teams at the same time, and PEs that die.
// tests/multi_pe/team_tests.cpp tests the use of teams with separate processes.
#include "pgas/team.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <thread>

#include "host/team/team_state.hpp"
#include "host/world/world_state.hpp"
#include "pgas/registration.hpp"
#include "pgas/world.hpp"
#include "unit/connect/fixtures.hpp"
#include "unit/worlds.hpp"

namespace pgas::unit_test {
namespace {

using pgas_world_test::join;
using pgas_world_test::small_world;

TEST(team, leaves_nothing_behind_in_any_order) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    world w = join(exchange);
    detail::world_state& state = w.state();
    const std::size_t states = state.team_states().count();
    for (int round = 0; round < 30; ++round) {
      team a = w.team().split(w.my_pe() % 2, 0);
      team b = a.split_strided(a.n_pes() - 1, -1, a.n_pes());
      team c = w.team().split_list(std::vector<int>{3, 0, 2});
      auto cells = b.allocate<int>(100'000);
      if (c) {
        EXPECT_NE(c.allocate_bytes(1000), nullptr);
      }
      EXPECT_GT(state.heap().team_segment_map().count(), 0u);
      if (round % 2 == 0) a.destroy();
      c.destroy();
      b.destroy();
      cells.reset();
      a.destroy();
      EXPECT_EQ(state.heap().team_segment_map().count(), 0u);
      EXPECT_EQ(state.team_states().count(), states);
    }
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(team, outlives_its_world_without_harm) {
  const holdings before = count_holdings();
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    std::optional<world> w(join(exchange));
    team t = w->team().split(0, -w->my_pe());
    symmetric<int> cells = t.allocate<int>(1000);
    static_cast<void>(t.state().stream());
    w->leave();
    w.reset();
  }));
  EXPECT_EQ(settle_at(before), before);
}

TEST(team, offsets_are_the_same_on_members_and_never_shared_by_two_teams) {
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    world w = join(exchange);
    const int me = w.my_pe();
    std::vector<team> held;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (int round = 0; round < 60; ++round) {
      // The rounds make teams of different pairs of PEs, so that the PEs' maps of free offsets become different.
      const int a = round % 4;
      const int b = (round * 7 + 1 + round / 4) % 4;
      if (a == b) continue;
      team t = w.team().split_list(std::vector<int>{a, b}, {.channels = 1 + round % 5});
      if (!t) continue;
      const team_view view = t.view();
      const std::uint64_t begin = view.state_offset_;
      const std::uint64_t end =
          begin + detail::team_state_layout::bytes(2, view.n_channels(), view.members_ != nullptr);
      for (const auto& [from, to] : ranges) EXPECT_TRUE(end <= from || begin >= to);
      for (const detail::contribution& theirs : t.state().group().all_gather(std::as_bytes(std::span(&begin, 1)))) {
        std::uint64_t remote = 0;
        std::memcpy(&remote, theirs.bytes.data(), sizeof(remote));
        EXPECT_EQ(remote, begin);
      }
      ranges.emplace_back(begin, end);
      held.push_back(std::move(t));
    }
    EXPECT_FALSE(held.empty());
    EXPECT_LT(me, 4);
    for (team& t : held) t.destroy();
  }));
}

TEST(team, overlapping_ones_from_several_threads_at_once) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    world w = join(exchange);
    const int me = w.my_pe();
    // Each PE is in two of the three pairs and uses both at the same time.
    std::vector<team> pairs;
    for (int first = 0; first < 3; ++first)
      pairs.push_back(w.team().split_list(std::vector<int>{first, (first + 1) % 3}));
    std::vector<std::thread> threads;
    for (const team& pair : pairs)
      if (pair)
        threads.emplace_back([&pair] {
          for (int round = 0; round < 30; ++round) {
            team inner = pair.split(0, -pair.my_pe());
            auto cells = inner.allocate<int>(round % 4 == 0 ? 2'000'000 : 100, initialize::zero);
            EXPECT_TRUE(cells);
          }
        });
    for (std::thread& thread : threads) thread.join();
    w.barrier_all();
    EXPECT_EQ(w.state().heap().team_segment_map().count(), 0u);
    EXPECT_LT(me, 3);
  }));
}

TEST(team, memory_grows_and_is_refused_on_all_members_alike) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    world w = join(exchange);
    const team t = w.team().split_list(std::vector<int>{2, 1});
    if (t) {
      std::vector<symmetric<char>> parts;
      for (int i = 0; i < 10; ++i) parts.push_back(t.allocate<char>(std::size_t{1} << 20));
      EXPECT_GE(w.state().heap().team_segment_map().count(), 2u);
      try {
        static_cast<void>(
            t.allocate<char>(std::size_t{1} << 30));  // larger than the slot's address range for team segments
        ADD_FAILURE() << "more than there is was allocated";
      } catch (const error& full) {
        EXPECT_EQ(full.code(), code::out_of_memory);
        EXPECT_NE(std::string(full.what()).find("nothing was allocated"), std::string::npos) << full.what();
      }
      parts.clear();
      const std::size_t team_segment_map = w.state().heap().team_segment_map().count();
      auto across = t.allocate<char>(std::size_t{5} << 20);  // the range crosses the border between two team segments
      EXPECT_EQ(w.state().heap().team_segment_map().count(), team_segment_map);
      EXPECT_TRUE(w.state().heap().contains(across.data(), across.size()));
      EXPECT_TRUE(w.state().heap().peer_has(across.data(), 1));
      EXPECT_FALSE(w.state().heap().peer_has(across.data(), 0));
    }
  }));
}

TEST(team, different_sizes_are_told_to_all_members) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    config settings = small_world();
    settings.checks = true;
    world w = join(exchange, settings);
    team t = w.team().split_list(std::vector<int>{0, 2});
    if (!t) return;
    try {
      static_cast<void>(t.allocate_bytes(w.my_pe() == 0 ? 100 : 200));
      ADD_FAILURE() << "different sizes were allocated";
    } catch (const error& different) {
      EXPECT_EQ(different.code(), code::asymmetric_call);
    }
    try {
      static_cast<void>(w.my_pe() == 0 ? t.split(0, 0) : t.split_2d(1).first);
      ADD_FAILURE() << "different splits were made";
    } catch (const error& different) {
      EXPECT_EQ(different.code(), code::asymmetric_call);
    }
    t.destroy();
  }));
}

TEST(team, an_exception_that_unwinds_a_member_ends_the_wait_of_the_others) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    world w = join(exchange);
    const team t = w.team().split_list(std::vector<int>{0, 2});
    if (w.my_pe() == 2) throw error(code::invalid_argument, "of the test");
    if (w.my_pe() == 0) static_cast<void>(t.allocate<int>(10, initialize::zero));
    w.barrier_all();
  });
  ASSERT_TRUE(ends[0] && ends[1] && ends[2]);
  EXPECT_EQ(ends[0]->code(), code::aborted) << ends[0]->what();
  EXPECT_EQ(ends[1]->code(), code::aborted) << ends[1]->what();
}

TEST(team, a_member_that_dies_in_a_collective_is_named) {
  for (const int when : {0, 1, 2}) {
    const auto ends = run_processes(4, [when](bootstrap& exchange) {
      world w = join(exchange);
      team t = w.team().split_list(std::vector<int>{3, 1, 0});
      if (w.my_pe() == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ::raise(SIGKILL);
      }
      if (!t) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      try {
        if (!t) {
          while (true) {
            w.check();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }
        if (when == 0) static_cast<void>(t.split(0, 0));
        if (when == 1) static_cast<void>(t.allocate<int>(10, initialize::zero));
        if (when == 2) t.destroy();
        require(false, "a collective without PE 1 returned");
      } catch (const error& lost) {
        require(lost.code() == code::peer_lost && lost.pe() == 1, std::string("PE 1 is named: ") + lost.what());
      }
    });
    EXPECT_EQ(ends[1].signal, SIGKILL);
    for (const int pe : {0, 2, 3})
      EXPECT_EQ(ends[static_cast<std::size_t>(pe)].message, "") << "PE " << pe << ", call " << when;
  }
}

}  // namespace
}  // namespace pgas::unit_test
