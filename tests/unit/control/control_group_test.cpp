// Exchanges among some of a world's PEs: several at once, made and forgotten, and what is said when they go wrong.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

#include "host/control/control_group.hpp"
#include "unit/control/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::link_group;

/// Collective over `parent`: the group of `members` of it, null on the others.
std::unique_ptr<link_group> make_group(const link_group& parent, const std::vector<int>& members) {
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
  return member ? std::make_unique<link_group>(parent, id, std::move(world)) : nullptr;
}

void expect_in_order(const link_group& group, int round) {
  const auto all =
      group.all_gather(bytes_of(std::to_string(group.world_pe(group.my_pe())) + ":" + std::to_string(round)));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(group.n_pes()));
  for (int i = 0; i < group.n_pes(); ++i)
    EXPECT_EQ(text_of(all[static_cast<std::size_t>(i)].bytes),
              std::to_string(group.world_pe(i)) + ":" + std::to_string(round));
}

TEST(link_group, members_have_numbers_of_their_own_and_others_are_not_asked) {
  const auto ends = run_threads(5, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    const int me = exchange.rank();
    const auto backwards = make_group(pe.links, {4, 1, 3});
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
    pe.links.barrier();
    pe.links.leave();
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
}

TEST(link_group, a_member_may_be_ahead_of_one_that_has_not_heard_of_the_group) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    for (int round = 0; round < 50; ++round) {
      pe.links.barrier();
      if (exchange.rank() == round % 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const link_group group(pe.links, 1000 + static_cast<std::uint64_t>(round), {2, 0, 1});
      expect_in_order(group, round);
    }
    pe.links.leave();
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
}

TEST(link_group, overlapping_ones_at_once_from_several_threads) {
  constexpr int n = 4;
  const auto ends = run_threads(n, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    const int me = exchange.rank();
    const auto pairs = make_group(pe.links, me < 2 ? std::vector<int>{0, 1} : std::vector<int>{3, 2});
    const auto all = make_group(pe.links, {3, 2, 1, 0});
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int round = 0; round < (me < 2 ? 300 : 100); ++round) expect_in_order(*pairs, round);
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) expect_in_order(*all, round);
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pe.links.barrier();
    });
    for (std::thread& thread : threads) thread.join();
    pe.links.leave();
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
}

TEST(link_group, thousands_come_and_go) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    for (int round = 0; round < 2000; ++round) {
      const auto group = make_group(pe.links, {round % 3, (round + 1) % 3});
      if (group) group->barrier();
    }
    pe.links.leave();
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
}

TEST(link_group, members_that_call_different_things_are_told) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    const auto group = make_group(pe.links, {0, 2});
    if (exchange.rank() == 0) group->barrier();
    if (exchange.rank() == 2) static_cast<void>(group->all_gather({}));
    if (exchange.rank() == 1) pe.links.barrier();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::asymmetric_call) << end->what();
  }
}

TEST(link_group, who_leaves_while_a_member_waits_is_named) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    linked_pe pe(exchange);
    const auto group = make_group(pe.links, {0, 2});
    if (exchange.rank() == 0) group->barrier();
    pe.links.leave();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::asymmetric_call) << end->what();
    EXPECT_EQ(end->pe(), 2);
  }
}

TEST(link_group, a_wait_that_is_too_long_names_the_missing_member) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(300);
    linked_pe pe(exchange, settings);
    const auto group = make_group(pe.links, {2, 0});
    if (exchange.rank() == 0) group->barrier();
    while (!pe.links.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pe.links.check();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout) << end->what();
    EXPECT_EQ(end->pe(), 2);
  }
}

TEST(link_group, outlives_the_links_without_harm) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    std::unique_ptr<link_group> group;
    {
      linked_pe pe(exchange);
      group = make_group(pe.links, {1, 0});
      pe.links.leave();
    }
    EXPECT_THROW(group->barrier(), error);
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
}

}  // namespace
}  // namespace pgas::unit_test
