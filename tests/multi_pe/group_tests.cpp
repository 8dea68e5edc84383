// Teams that only their members create, in separate processes. The tests run with any number of PEs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "../code_of.hpp"
#include "pgas/collective.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::code;
using pgas_test::code_of;

class Group : public testing::Test {
 protected:
  Group() : world(pgas::world::join()), me(world.my_pe()), n(world.n_pes()), cells(world.allocate<int>(64)) {}

  // Uses the numbers of the members, and calls a reduction and a barrier of the members.
  void use(const pgas::team& team, const std::vector<int>& members) {
    ASSERT_EQ(team.n_pes(), static_cast<int>(members.size()));
    EXPECT_EQ(members[static_cast<std::size_t>(team.my_pe())], me);
    int seen = 0;
    pgas::put(world, cells.data(), &me, 1, me);
    pgas::reduce(team, cells.data() + 1, cells.data(), 1, pgas::op::sum{});
    pgas::get(world, &seen, cells.data() + 1, 1, me);
    EXPECT_EQ(seen, std::accumulate(members.begin(), members.end(), 0));
    pgas::barrier(team);
  }

  void make_and_use(const std::vector<int>& members, std::uint64_t key) {
    if (std::find(members.begin(), members.end(), me) == members.end()) return;
    const pgas::team team = world.team().create_group(members, key);
    use(team, members);
  }

  pgas::world world;
  int me;
  int n;
  pgas::symmetric<int> cells;
};

TEST_F(Group, of_its_members_alone) {
  std::vector<int> evens;
  for (int pe = 0; pe < n; pe += 2) evens.push_back(pe);
  for (int round = 0; round < 20; ++round) make_and_use(evens, 100 + static_cast<std::uint64_t>(round));
  std::reverse(evens.begin(), evens.end());
  make_and_use(evens, 7);
  world.barrier_all();  // the other PEs have not called any function
}

TEST_F(Group, that_overlap_in_any_order) {
  // PE i is in the pairs i - 1 and i. The odd pairs are made first.
  for (int first : {1, 0})
    for (int pe = first; pe + 1 < n; pe += 2) make_and_use({pe + 1, pe}, static_cast<std::uint64_t>(pe));
  world.barrier_all();
}

TEST_F(Group, several_at_once_from_threads) {
  std::vector<int> pes(static_cast<std::size_t>(n));
  std::iota(pes.begin(), pes.end(), 0);
  std::array<pgas::team, 4> teams;
  std::vector<std::thread> makers;
  for (std::size_t i = 0; i < teams.size(); ++i)
    makers.emplace_back([&, i] { teams[i] = world.team().create_group(pes, i, {.channels = 2}); });
  for (std::thread& item : makers) item.join();
  for (const pgas::team& team : teams) use(team, pes);
  for (pgas::team& team : teams) team.destroy();
}

TEST_F(Group, of_a_team) {
  const pgas::team backwards = world.team().split(0, -me);
  if (n > 1 && me < 2) {
    const pgas::team two = backwards.create_group(std::vector<int>{n - 1, n - 2}, 1);
    use(two, {0, 1});
  }
  world.barrier_all();
}

TEST_F(Group, bad_arguments) {
  const pgas::team& all = world.team();
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group({}, 1)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{me, me}, 1)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{me, n}, 1)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{-1}, 1)); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{me}, std::uint64_t{1} << 62)); }),
            code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{me}, 1, {.channels = 0})); }),
            code::invalid_argument);
  if (n > 1) {
    EXPECT_EQ(code_of([&] { static_cast<void>(all.create_group(std::vector<int>{(me + 1) % n}, 1)); }),
              code::invalid_argument);
  }
  const pgas::team empty;
  EXPECT_EQ(code_of([&] { static_cast<void>(empty.create_group(std::vector<int>{0}, 1)); }), code::invalid_argument);
  make_and_use({me}, 1);
}

}  // namespace
