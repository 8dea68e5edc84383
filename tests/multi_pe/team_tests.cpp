// Teams in separate processes. The tests run with any number of PEs, under any launcher, on either heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "../code_of.hpp"
#include "pgas/collective.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::code;
using pgas_test::code_if_any;
using pgas_test::code_of;

// Repeats `rounds` times: a barrier in a kernel, then reads of the data that all members put before the barrier.
struct barrier_kernel {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, pgas::team_view team, std::int64_t* cells,
                          std::int64_t* wrong, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      if (block.thread_rank() == 0)
        for (int to = 0; to < team.n_pes(); ++to)
          pgas::p(ctx, cells + team.my_pe(), static_cast<std::int64_t>(round * 1000 + team.my_pe()), to);
      pgas::barrier(ctx, block, team);
      if (block.thread_rank() == 0)
        for (int from = 0; from < team.n_pes(); ++from)
          if (pgas::g(ctx, cells + from, team.my_pe()) != round * 1000 + from) ++*wrong;
      pgas::barrier(ctx, block, team);
    }
  }
};

// A ring of puts and atomic operations with the PE numbers of the context's team.
struct ring {
  template <pgas::block_group Block, class Context>
  PGAS_FN void operator()(Block block, Context ctx, std::int64_t* cells) const {
    const auto right = ctx.peer((ctx.my_pe() + 1) % ctx.n_pes());
    if (block.thread_rank() == 0) {
      pgas::p(ctx, cells, static_cast<std::int64_t>(100 + ctx.my_pe()), right);
      const std::int64_t value = 200 + ctx.my_pe();
      pgas::put(ctx, cells + 1, &value, 1, right);
      static_cast<void>(pgas::atomic_fetch_add(ctx, cells + 2, static_cast<std::int64_t>(1 + ctx.my_pe()), 0));
    }
    pgas::barrier(ctx, block, ctx.team());
  }
};

// Members by their numbers in the world: start, start + stride, and so on.
std::vector<int> strided(int start, int stride, int size) {
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * stride);
  return members;
}

class Team : public testing::Test {
 protected:
  Team() : world(pgas::world::join()), me(world.my_pe()), n(world.n_pes()) {}

  // All uses of a team: numbers, translation, barriers of kernels and of the host, contexts, memory.
  void use(const pgas::team& team, const std::vector<int>& members) {
    ASSERT_TRUE(static_cast<bool>(team));
    ASSERT_EQ(team.n_pes(), static_cast<int>(members.size()));
    EXPECT_EQ(members[static_cast<std::size_t>(team.my_pe())], me);
    for (int i = 0; i < team.n_pes(); ++i) {
      const int expected = members[static_cast<std::size_t>(i)];
      EXPECT_EQ(team.world_pe(i), expected);
      EXPECT_EQ(team.translate_pe(i, world.team()), expected);
      EXPECT_EQ(world.team().translate_pe(expected, team), i);
    }
    for (int pe = 0; pe < n; ++pe)
      if (std::find(members.begin(), members.end(), pe) == members.end()) {
        EXPECT_EQ(world.team().translate_pe(pe, team), -1);
      }
    EXPECT_EQ(code_of([&] { static_cast<void>(team.world_pe(team.n_pes())); }), code::pe_out_of_range);
    EXPECT_EQ(code_of([&] { static_cast<void>(team.world_pe(-1)); }), code::pe_out_of_range);

    const pgas::context ctx = team.context();
    EXPECT_EQ(ctx.my_pe(), team.my_pe());
    EXPECT_EQ(ctx.n_pes(), team.n_pes());
    auto cells = team.allocate<std::int64_t>(static_cast<std::size_t>(std::max(3, n)) + 1, pgas::initialize::zero);
    std::int64_t* const wrong = cells.data() + std::max(3, n);
    pgas::launch(world, {.blocks = 1, .threads = 2}, barrier_kernel{}, ctx, team.view(), cells.data(), wrong, 20);
    world.synchronize();
    EXPECT_EQ(pgas::g(world, wrong, me), 0);
    run_ring(team, ctx, cells.data());
    pgas::direct_context direct;
    const code refused = code_if_any([&] { direct = team.direct_context(); });
    EXPECT_EQ(refused, expected_of_direct_context(members));
    if (refused == code{}) run_ring(team, direct, cells.data());
  }

  template <class Context>
  void run_ring(const pgas::team& team, const Context& ctx, std::int64_t* cells) {
    pgas::barrier(team);
    for (std::size_t i = 0; i < 3; ++i) pgas::p(world, cells + i, std::int64_t{0}, me);
    pgas::barrier(team);
    pgas::launch(world, {.blocks = 1, .threads = 2}, ring{}, ctx, cells);
    world.synchronize();
    const int left = (team.my_pe() + team.n_pes() - 1) % team.n_pes();
    EXPECT_EQ(pgas::g(world, cells, me), 100 + left);
    EXPECT_EQ(pgas::g(world, cells + 1, me), 200 + left);
    pgas::barrier(team);
    if (team.my_pe() == 0) {
      EXPECT_EQ(pgas::g(world, cells + 2, me), team.n_pes() * (team.n_pes() + 1) / 2);
    }
  }

  // The error of team::direct_context() for a team of these members; code{} if there is none.
  code expected_of_direct_context(const std::vector<int>& members) const {
    for (std::size_t i = 2; i < members.size(); ++i)
      if (members[i] - members[i - 1] != members[1] - members[0]) return code::invalid_argument;
    // The host heap accepts cuda_ipc too.
    const bool anywhere = world.settings().mem_handle == pgas::handle_kind::cuda_ipc;
    for (const int pe : members) {
      if (!world.pe(pe).direct || (anywhere && pe != me)) return code::peer_unreachable;
      for (int between = std::min(pe, me); between < std::max(pe, me); ++between)
        if (!world.pe(between).direct) return code::peer_unreachable;  // the domain has a gap
    }
    return code{};
  }

  std::vector<int> everyone() const { return strided(0, 1, n); }

  pgas::world world;
  const int me;
  const int n;
};

bool has(const std::vector<int>& members, int pe) {
  return std::find(members.begin(), members.end(), pe) != members.end();
}

TEST_F(Team, those_of_the_world_itself) {
  use(world.team(), everyone());
  std::vector<int> direct_peers;
  std::vector<int> of_this_host;
  for (const int pe : everyone()) {
    if (world.pe(pe).direct) direct_peers.push_back(pe);
    if (world.pe(pe).host == world.pe(me).host) of_this_host.push_back(pe);
  }
  use(world.domain_team(), direct_peers);
  use(world.host_team(), of_this_host);
  EXPECT_EQ(world.team().config().channels, pgas::team_config{}.channels);
}

TEST_F(Team, strided_in_every_way) {
  for (int start = 0; start < n; ++start)
    for (const int stride : {1, 2, 3, -1, -2})
      for (int size = 1; size <= n; ++size) {
        if (const int last = start + (size - 1) * stride; last < 0 || last >= n) continue;
        if ((start + 3 * size + stride) % 3 != 0 && n > 4) continue;  // with many PEs, a third of the teams is enough
        const std::vector<int> members = strided(start, stride, size);
        const pgas::team team = world.team().split_strided(start, stride, size);
        ASSERT_EQ(static_cast<bool>(team), has(members, me));
        if (team) use(team, members);
      }
}

TEST_F(Team, of_one_pe_each) {
  const pgas::team team = world.team().split(me, 0);
  use(team, {me});
  const pgas::team first = world.team().split_strided(0, 17, 1);
  if (me == 0) use(first, {0});
}

TEST_F(Team, rows_and_columns) {
  for (const int width : {1, 2, 3, n, n + 5, std::numeric_limits<int>::max()}) {
    const auto [row, column] = world.team().split_2d(width);
    std::vector<int> in_row;
    std::vector<int> in_column;
    for (int pe = 0; pe < n; ++pe) {
      if (pe / width == me / width) in_row.push_back(pe);
      if (pe % width == me % width) in_column.push_back(pe);
    }
    use(row, in_row);
    use(column, in_column);
  }
}

TEST_F(Team, by_colour_and_key) {
  const pgas::team halves = world.team().split(me % 2, -me);  // with the last PE first
  std::vector<int> members;
  for (int pe = n - 1; pe >= 0; --pe)
    if (pe % 2 == me % 2) members.push_back(pe);
  use(halves, members);
  // Equal keys keep the order of the parent.
  const pgas::team again = halves.split(7, 0);
  use(again, members);
  const pgas::team odd = world.team().split(me % 2 == 1 ? 3 : -1, 0);
  ASSERT_EQ(static_cast<bool>(odd), me % 2 == 1);
  if (odd) {
    std::reverse(members.begin(), members.end());
    use(odd, members);
  }
}

TEST_F(Team, by_list_in_any_order) {
  std::vector<int> list = everyone();
  std::reverse(list.begin(), list.end());
  use(world.team().split_list(list), list);
  if (n >= 4) {
    const std::vector<int> some{3, 0, 1};
    const pgas::team team = world.team().split_list(some);
    ASSERT_EQ(static_cast<bool>(team), has(some, me));
    if (team) {
      use(team, some);
      const pgas::team inner = team.split_list(std::vector<int>{2, 0});  // members 2 and 0 of the team, which are PEs 1
                                                                         // and 3 of the world
      ASSERT_EQ(static_cast<bool>(inner), me == 1 || me == 3);
      if (inner) use(inner, {1, 3});
    }
  }
}

TEST_F(Team, of_teams_that_outlive_them) {
  pgas::team outer = world.team().split(0, 0, {.channels = 3});
  EXPECT_EQ(outer.config().channels, 3);
  EXPECT_EQ(outer.view().n_channels(), 3);
  pgas::team inner = outer.split(me / 2, 0, {.channels = 1});
  outer.destroy();
  EXPECT_FALSE(outer);
  outer.destroy();  // the second call has no effect
  EXPECT_EQ(code_of([&] { static_cast<void>(outer.my_pe()); }), code::invalid_argument);
  std::vector<int> pair{me / 2 * 2};
  if (pair[0] + 1 < n) pair.push_back(pair[0] + 1);
  use(inner, pair);
}

TEST_F(Team, halves_that_split_differently_often) {
  const int mine = me % 2;
  const pgas::team half = world.team().split(mine, 0);
  std::vector<int> members;
  for (int pe = mine; pe < n; pe += 2) members.push_back(pe);
  for (int i = 0; i < 5 + 20 * mine; ++i) {
    const pgas::team part = half.split_strided(0, 1, half.n_pes());
    if (i % 10 == 0) use(part, members);
  }
  use(world.team().split(0, 0), everyone());
}

TEST_F(Team, bad_arguments_are_the_same_error_everywhere) {
  const pgas::team& all = world.team();
  const auto strided_code = [&](int start, int stride, int size, int channels = 4) {
    return code_of([&] { static_cast<void>(all.split_strided(start, stride, size, {.channels = channels})); });
  };
  EXPECT_EQ(strided_code(0, 1, 0), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 1, -1), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 1, n + 1), code::invalid_argument);
  EXPECT_EQ(strided_code(n, 1, 1), code::invalid_argument);
  EXPECT_EQ(strided_code(-1, 1, 1), code::invalid_argument);
  EXPECT_EQ(strided_code(0, -1, 2), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 0, 2), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 1 << 30, 1 << 30), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 1, 1, 0), code::invalid_argument);
  EXPECT_EQ(strided_code(0, 1, 1, 1 << 20), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.split_2d(0)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.split_list({})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.split_list(std::vector<int>{n})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.split_list(std::vector<int>{0, 0})); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.split_list(std::vector<int>(100'000, 0))); }), code::invalid_argument);
  if (n > 1) {
    EXPECT_EQ(strided_code(me == 1 ? 1 : 0, 1, 1), code::asymmetric_call);
    EXPECT_EQ(strided_code(0, 1, 1, me == n - 1 ? 5 : 4), code::asymmetric_call);
    EXPECT_EQ(code_of([&] {
                static_cast<void>(all.split_list(me == 0 ? std::vector<int>{0} : std::vector<int>{0, 1}));
              }),
              code::asymmetric_call);
    EXPECT_EQ(code_of([&] {
                if (me == 0)
                  static_cast<void>(all.split_2d(1));
                else
                  static_cast<void>(all.split(0, 0));
              }),
              code::asymmetric_call);
  }
  use(all.split(0, 0), everyone());  // the previous failure has left no state behind
}

TEST_F(Team, empty_ones_and_those_of_a_world_that_was_left) {
  pgas::team none;
  EXPECT_FALSE(none);
  none.destroy();
  for (const auto& call : {+[](const pgas::team& t) { static_cast<void>(t.n_pes()); },
                           +[](const pgas::team& t) { static_cast<void>(t.view()); },
                           +[](const pgas::team& t) { static_cast<void>(t.split(0, 0)); },
                           +[](const pgas::team& t) { static_cast<void>(t.allocate<int>(1)); },
                           +[](const pgas::team& t) { static_cast<void>(t.context()); }}) {
    EXPECT_EQ(code_of([&] { call(none); }), code::invalid_argument);
  }
  pgas::team team = world.team().split(0, 0);
  auto cells = team.allocate<int>(100);
  world.leave();
  EXPECT_EQ(code_of([&] { static_cast<void>(team.n_pes()); }), code::not_joined);
  EXPECT_EQ(code_of([&] { static_cast<void>(team.split(0, 0)); }), code::not_joined);
  EXPECT_EQ(code_of([&] { static_cast<void>(world.team()); }), code::not_joined);
}

TEST_F(Team, memory_is_of_members_only) {
  if (n < 3) GTEST_SKIP() << "needs somebody outside";
  const std::vector<int> members{2, 0};
  const pgas::team team = world.team().split_list(members);
  if (team) {
    auto small = team.allocate<std::int64_t>(10, pgas::initialize::zero);
    auto large = team.allocate<std::int64_t>(1'000'000, pgas::initialize::zero);
    const int other = me == 0 ? 2 : 0;
    pgas::p(world, large.data() + 999'999, std::int64_t{me}, other);
    pgas::barrier(team);
    EXPECT_EQ(pgas::g(world, large.data() + 999'999, me), other);
    EXPECT_EQ(code_of([&] { pgas::p(world, small.data(), std::int64_t{1}, 1); }), code::outside_heap);
    EXPECT_EQ(code_of([&] { static_cast<void>(pgas::g(world, large.data(), 1)); }), code::outside_heap);
    EXPECT_EQ(code_of([&] { team.free(small.data() + 2); }), code::invalid_free);
    int here = 0;
    EXPECT_EQ(code_of([&] { team.free(&here); }), code::invalid_free);
    team.free(nullptr);
    void* const raw = team.allocate_bytes(64);
    team.free(raw);
    EXPECT_EQ(code_of([&] { team.free(raw); }), code::invalid_free);
    void* const wide = team.allocate_bytes(64, 1, std::size_t{16} << 20);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % (std::size_t{16} << 20), 0U);
    team.free(wide);
    EXPECT_EQ(code_of([&] { static_cast<void>(team.allocate_bytes(1, 1, 3)); }), code::invalid_argument);
    EXPECT_EQ(code_of([&] { static_cast<void>(team.allocate_bytes(std::size_t{1} << 60)); }), code::out_of_memory);
    EXPECT_EQ(team.allocate_bytes(0), nullptr);
    EXPECT_EQ(code_of([&] { small.resize(20); }), code::invalid_argument);
  }
  world.barrier_all();
}

TEST_F(Team, memory_outlived_by_its_owner) {
  pgas::symmetric<int> kept;
  pgas::team team = world.team().split(0, 0);
  kept = team.allocate<int>(5);
  team.destroy();
  pgas::team next = world.team().split(0, 0);
  auto cells = next.allocate<int>(5, pgas::initialize::zero);
  kept.reset();  // must not free memory of the next team, which has the same address
  next.free(next.allocate_bytes(100));
  EXPECT_EQ(pgas::g(world, cells.data(), me), 0);
}

TEST_F(Team, collectives_at_once_from_threads) {
  const pgas::team halves = world.team().split(me % 2, 0);
  const pgas::team whole = world.team().split(0, -me);
  const auto churn = [](const pgas::team& members, int times) {
    for (int i = 0; i < times; ++i) {
      pgas::team part = members.split_strided(members.n_pes() - 1, -1, members.n_pes());
      if (i % 5 == 0) static_cast<void>(part.allocate<int>(1000, pgas::initialize::zero));
      part.destroy();
    }
  };
  std::thread first([&] { churn(halves, 20 + 10 * (me % 2)); });
  std::thread second([&] { churn(whole, 20); });
  std::thread third([&] { churn(world.domain_team(), 20); });
  first.join();
  second.join();
  third.join();
  use(whole, [&] {
    std::vector<int> pes = everyone();
    std::reverse(pes.begin(), pes.end());
    return pes;
  }());
}

// There are more teams at the same time than the world reserves room for, so states of teams go into team segments.
TEST_F(Team, hundreds_at_once) {
  std::vector<pgas::team> teams;
  for (int i = 0; i < 150; ++i) teams.push_back(world.team().split(0, me * (i % 2 == 0 ? 1 : -1), {.channels = 32}));
  std::vector<int> pes = everyone();
  use(teams[0], pes);
  use(teams[148], pes);
  std::reverse(pes.begin(), pes.end());
  use(teams[149], pes);
  for (pgas::team& team : teams) team.destroy();  // the oldest team first
}

TEST_F(Team, thousands_one_after_another_leave_nothing) {
  const pgas::team half = world.team().split(me % 2, 0);
  const std::size_t used = world.usage().used;
  const std::size_t mapped = world.usage().mapped;
  std::uint64_t first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const pgas::team team =
        (i % 2 == 0 ? world.team() : half).split_strided(0, 1, 1 + i % (i % 2 == 0 ? n : half.n_pes()));
    if (!team) continue;
    if (first == 0) first = team.view().state_offset_;
    ASSERT_LE(team.view().state_offset_, first + 4096 * 64U);
    if (i % 100 == 0) static_cast<void>(team.allocate<char>(1 << 20));
  }
  EXPECT_EQ(world.usage().used, used);
  EXPECT_EQ(world.usage().mapped, mapped);
}

}  // namespace
