// Exchanges among some PEs of a world: several groups at the same time, groups that are made and removed, and errors.
#include "host/exchange/control_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::control_group;

/// Collective over `parent`: makes the group of `members`. Returns null on all other PEs.
std::unique_ptr<control_group> make_group(const control_group& parent, const std::vector<int>& members) {
  const std::uint64_t proposed = parent.new_identity();
  const auto all = parent.all_gather(std::as_bytes(std::span(&proposed, 1)));
  std::uint64_t id = 0;
  std::memcpy(&id, all[static_cast<std::size_t>(members.front())].bytes.data(), sizeof(id));
  std::vector<int> world;
  bool member = false;
  for (const int pe : members) {
    world.push_back(parent.world_pe(pe));
    member = member || pe == parent.my_pe();
  }
  return member ? std::make_unique<control_group>(parent, id, std::move(world)) : nullptr;
}

void expect_in_order(const control_group& group, int round) {
  const auto all =
      group.all_gather(bytes_of(std::to_string(group.world_pe(group.my_pe())) + ":" + std::to_string(round)));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(group.n_pes()));
  for (int i = 0; i < group.n_pes(); ++i)
    EXPECT_EQ(text_of(all[static_cast<std::size_t>(i)].bytes),
              std::to_string(group.world_pe(i)) + ":" + std::to_string(round));
}

TEST(control_group, members_have_numbers_of_their_own_and_others_are_not_asked) {
  expect_no_error(run_threads(5, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const int me = exchange.rank();
    const auto backwards = make_group(pe.control_plane, {4, 1, 3});
    ASSERT_EQ(backwards != nullptr, me == 4 || me == 1 || me == 3);
    if (backwards) {
      EXPECT_EQ(backwards->n_pes(), 3);
      EXPECT_EQ(backwards->my_pe(), me == 4 ? 0 : me == 1 ? 1 : 2);
      EXPECT_EQ(backwards->world_pe(2), 3);
      EXPECT_EQ(backwards->peer(0).local_rank, 4);
      EXPECT_THROW(static_cast<void>(backwards->peer(3)), error);
      for (int round = 0; round < 50; ++round) expect_in_order(*backwards, round);
      const auto inner = make_group(*backwards, {2, 0});
      ASSERT_EQ(inner != nullptr, me != 1);
      if (inner) expect_in_order(*inner, 7);
    }
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
}

TEST(control_group, a_reduction_sends_each_member_the_part_that_it_asks_for) {
  expect_no_error(run_threads_on({0, 0, 0, 1, 1, 2}, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const int me = exchange.rank();
    const auto append = [](blob& all, std::span<const std::byte> more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    const auto asked_for = [](std::span<const std::byte> all, std::span<const std::byte> values) {
      blob part;
      for (const std::byte one : all)
        if (std::ranges::find(values, one) != values.end()) part.push_back(one);
      return part;
    };
    for (int round = 0; round < 20; ++round) {
      const auto mine = static_cast<std::byte>((me + round) % 3);
      blob part = pe.control_plane.reduce(blob{mine}, append, asked_for);
      EXPECT_EQ(std::ranges::count(part, mine), 2) << "PE " << me;
      const bool is_leaf = me == 1 || me == 2 || me == 4 || me == 5;
      EXPECT_TRUE(!is_leaf || part.size() == 2) << "PE " << me << " received " << part.size();
    }
    pe.control_plane.leave();
  }));
}

TEST(control_group, a_member_may_be_ahead_of_one_that_has_not_heard_of_the_group) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    for (int round = 0; round < 50; ++round) {
      pe.control_plane.barrier();
      if (exchange.rank() == round % 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const control_group group(pe.control_plane, 1000 + static_cast<std::uint64_t>(round), {2, 0, 1});
      expect_in_order(group, round);
    }
    pe.control_plane.leave();
  }));
}

TEST(control_group, overlapping_ones_at_once_from_several_threads) {
  constexpr int n = 4;
  expect_no_error(run_threads(n, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const int me = exchange.rank();
    const auto pairs = make_group(pe.control_plane, me < 2 ? std::vector<int>{0, 1} : std::vector<int>{3, 2});
    const auto all = make_group(pe.control_plane, {3, 2, 1, 0});
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int round = 0; round < (me < 2 ? 300 : 100); ++round) expect_in_order(*pairs, round);
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) expect_in_order(*all, round);
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pe.control_plane.barrier();
    });
    for (std::thread& thread : threads) thread.join();
    pe.control_plane.leave();
  }));
}

TEST(control_group, thousands_come_and_go) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    for (int round = 0; round < 2000; ++round) {
      const auto group = make_group(pe.control_plane, {round % 3, (round + 1) % 3});
      if (group) group->barrier();
    }
    pe.control_plane.leave();
  }));
}

TEST(control_group, members_that_call_different_things_are_told) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const auto group = make_group(pe.control_plane, {0, 2});
    if (exchange.rank() == 0) group->barrier();
    if (exchange.rank() == 2) static_cast<void>(group->all_gather({}));
    if (exchange.rank() == 1) pe.control_plane.barrier();
  });
  expect_all(ends, code::asymmetric_call);
}

TEST(control_group, who_leaves_while_a_member_waits_is_named) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const auto group = make_group(pe.control_plane, {0, 2});
    if (exchange.rank() == 0) group->barrier();
    pe.control_plane.leave();
  });
  expect_all(ends, code::asymmetric_call, 2);
}

TEST(control_group, who_comes_to_the_end_while_others_are_in_a_barrier_is_named) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    if (exchange.rank() == 1)
      pe.control_plane.await_leave();
    else
      pe.control_plane.barrier();
    ADD_FAILURE() << "a barrier and an end have met";
  });
  expect_all(ends, code::asymmetric_call, 1, "leaves the world");
}

TEST(control_group, a_pe_that_ends_between_the_two_steps_of_leaving_is_lost) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.await_leave();
    if (exchange.rank() == 0) pe.control_plane.leave();
  });
  ASSERT_TRUE(ends[0]);
  EXPECT_EQ(ends[0]->code(), code::peer_lost) << ends[0]->what();
  EXPECT_FALSE(ends[1]);
}

TEST(control_group, a_wait_that_is_too_long_names_the_missing_member) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(300);
    joined_pe pe(exchange, settings);
    const auto group = make_group(pe.control_plane, {2, 0});
    if (exchange.rank() == 0) group->barrier();
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pe.control_plane.check();
  });
  expect_all(ends, code::wait_timeout, 2);
}

// The contributions reach PE 0, the root of the group, before PE 0 makes the group. Afterwards PE 0 makes no call that
// would wake its reader thread. The reader must still inform the members of the contributions that have arrived.
TEST(control_group, the_root_tells_of_contributions_that_came_before_it_made_the_group) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::seconds(2);
    joined_pe pe(exchange, settings);
    if (exchange.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const control_group group(pe.control_plane, 77, {0, 1, 2});
    if (exchange.rank() != 0) group.barrier();
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pe.control_plane.check();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout) << end->what();
    EXPECT_NE(std::string(end->what()).find("call for PE 0"), std::string::npos) << end->what();
    EXPECT_EQ(std::string(end->what()).find("), PE"), std::string::npos) << end->what();
  }
}

TEST(control_group, outlives_the_links_without_harm) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    std::unique_ptr<control_group> group;
    {
      joined_pe pe(exchange);
      group = make_group(pe.control_plane, {1, 0});
      pe.control_plane.leave();
    }
    EXPECT_THROW(group->barrier(), error);
  }));
}

}  // namespace
}  // namespace pgas::unit_test
