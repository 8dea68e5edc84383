// Creation of teams, their numbers, and nvshmemx_team_init().
#include <stdlib.h>

#include <thread>
#include <vector>

#include "support.hpp"

namespace {

using NvshmemTeam = Nvshmem;

TEST_F(NvshmemTeam, predefined_ones) {
  for (const nvshmem_team_t team : {NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE}) {
    EXPECT_EQ(nvshmem_team_my_pe(team), me);
    EXPECT_EQ(nvshmem_team_n_pes(team), n);
  }
  EXPECT_EQ(nvshmem_team_my_pe(NVSHMEMX_TEAM_SAME_MYPE_NODE), 0);
  EXPECT_EQ(nvshmem_team_n_pes(NVSHMEMX_TEAM_SAME_MYPE_NODE), 1);
  EXPECT_EQ(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID), -1);
  EXPECT_EQ(nvshmem_team_n_pes(NVSHMEM_TEAM_INVALID), -1);
}

TEST_F(NvshmemTeam, strided) {
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  config.num_contexts = 3;
  const int size = (n + 1) / 2;
  nvshmem_team_t even = 99;
  ASSERT_EQ(
      nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, size, &config, NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS, &even),
      0);
  if (me % 2 != 0) {
    EXPECT_EQ(even, NVSHMEM_TEAM_INVALID);
  } else {
    ASSERT_NE(even, NVSHMEM_TEAM_INVALID);
    EXPECT_EQ(nvshmem_team_my_pe(even), me / 2);
    EXPECT_EQ(nvshmem_team_n_pes(even), size);
    EXPECT_EQ(nvshmem_team_translate_pe(even, size - 1, NVSHMEM_TEAM_WORLD), 2 * (size - 1));
    EXPECT_EQ(nvshmem_team_translate_pe(even, size, NVSHMEM_TEAM_WORLD), -1);
    EXPECT_EQ(nvshmem_team_translate_pe(even, -1, NVSHMEM_TEAM_WORLD), -1);
    EXPECT_EQ(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, 1 % n, even), n > 1 ? -1 : 0);
    EXPECT_EQ(nvshmem_team_translate_pe(even, 0, NVSHMEM_TEAM_INVALID), -1);
    nvshmem_team_config_t found;
    nvshmem_team_get_config(even, &found);
    EXPECT_EQ(found.num_contexts, 3);
    EXPECT_EQ(nvshmem_team_sync(even), 0);
    EXPECT_EQ(nvshmem_barrier(even), 0);
    nvshmem_team_destroy(even);
    EXPECT_EQ(nvshmem_team_my_pe(even), -1);
    EXPECT_EQ(nvshmem_team_n_pes(even), -1);
    EXPECT_EQ(nvshmem_team_sync(even), NVSHMEMX_ERROR_INVALID_VALUE);
  }
}

TEST_F(NvshmemTeam, of_a_team_from_the_middle) {
  if (n < 4) GTEST_SKIP() << "needs 4 PEs";
  nvshmem_team_t upper = NVSHMEM_TEAM_INVALID;
  ASSERT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 1, 1, 3, nullptr, 0, &upper), 0);
  if (upper == NVSHMEM_TEAM_INVALID) return;
  nvshmem_team_t back = NVSHMEM_TEAM_INVALID;
  ASSERT_EQ(nvshmem_team_split_strided(upper, 2, -1, 2, nullptr, 0, &back), 0);
  EXPECT_EQ(nvshmem_team_my_pe(back), me == 3 ? 0 : me == 2 ? 1 : -1);
}

TEST_F(NvshmemTeam, two_dimensional) {
  nvshmem_team_t row = 99;
  nvshmem_team_t column = 99;
  ASSERT_EQ(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 2, nullptr, 0, &row, nullptr, 0, &column), 0);
  EXPECT_EQ(nvshmem_team_my_pe(row), me % 2);
  EXPECT_EQ(nvshmem_team_my_pe(column), me / 2);
  EXPECT_EQ(nvshmem_team_n_pes(row), n - me / 2 * 2 < 2 ? 1 : 2);
  EXPECT_EQ(nvshmem_barrier(row), 0);
  EXPECT_EQ(nvshmem_barrier(column), 0);
  nvshmem_team_destroy(column);
  nvshmem_team_destroy(row);
}

TEST_F(NvshmemTeam, impossible_ones) {
  nvshmem_team_t result = 99;
  const auto refused = [&](nvshmem_team_t parent, int start, int stride, int size) {
    result = 99;
    const int status = nvshmem_team_split_strided(parent, start, stride, size, nullptr, 0, &result);
    EXPECT_EQ(result, NVSHMEM_TEAM_INVALID);
    return status;
  };
  EXPECT_EQ(refused(NVSHMEM_TEAM_WORLD, 0, 1, n + 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(NVSHMEM_TEAM_WORLD, n, 1, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(NVSHMEM_TEAM_WORLD, -1, 1, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(NVSHMEM_TEAM_WORLD, 0, 1, 0), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(NVSHMEM_TEAM_INVALID, 0, 1, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(55, 0, 1, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  nvshmem_team_t other = 99;
  EXPECT_NE(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 0, nullptr, 0, &result, nullptr, 0, &other), 0);
  EXPECT_EQ(other, NVSHMEM_TEAM_INVALID);
  nvshmem_team_destroy(NVSHMEM_TEAM_INVALID);
}

TEST_F(NvshmemTeam, many_one_after_another_and_at_once) {
  std::vector<nvshmem_team_t> teams(40, NVSHMEM_TEAM_INVALID);
  for (int round = 0; round < 3; ++round) {
    for (nvshmem_team_t& team : teams)
      ASSERT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, n, nullptr, 0, &team), 0);
    for (const nvshmem_team_t team : teams) ASSERT_EQ(nvshmem_team_sync(team), 0);
    for (const nvshmem_team_t team : teams) nvshmem_team_destroy(team);
  }
}

// The first member's unique id, on all PEs.
nvshmemx_team_uniqueid_t shared_id(int from, int me) {
  Symmetric<uint64_t> copy(1);
  if (me == from) {
    nvshmemx_team_uniqueid_t id = 0;
    EXPECT_EQ(nvshmemx_team_get_uniqueid(&id), 0);
    nvshmem_uint64_p(copy, id, me);
  }
  EXPECT_EQ(nvshmem_uint64_broadcast(NVSHMEM_TEAM_WORLD, copy, copy, 1, from), 0);
  return nvshmem_uint64_g(copy, me);
}

TEST_F(NvshmemTeam, of_pes_that_have_an_id_in_common) {
  // The rounds make more teams, one after another, than there are slots for teams.
  for (int round = 0; round < 80; ++round) {
    // Two teams at the same time, of the lower and the upper half of the PEs. The members of each team are in reverse
    // order.
    const int half = (n + 1) / 2;
    const bool lower = me < half;
    const nvshmemx_team_uniqueid_t ids[] = {shared_id(0, me), shared_id(n - 1, me)};
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    config.uniqueid = ids[lower ? 0 : 1];
    const int size = lower ? half : n - half;
    const int index = size - 1 - (lower ? me : me - half);
    nvshmem_team_t result = 99;
    ASSERT_EQ(nvshmemx_team_init(&result, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, size, index), 0);
    EXPECT_EQ(nvshmem_team_my_pe(result), index);
    EXPECT_EQ(nvshmem_team_n_pes(result), size);
    for (int member = 0; member < size; ++member)
      EXPECT_EQ(nvshmem_team_translate_pe(result, member, NVSHMEM_TEAM_WORLD), size - 1 - member + (lower ? 0 : half));
    EXPECT_EQ(nvshmem_team_sync(result), 0);
    nvshmem_team_destroy(result);
  }
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  nvshmem_team_t result = 99;
  EXPECT_NE(nvshmemx_team_init(&result, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, 1, 0), 0);
  EXPECT_EQ(result, NVSHMEM_TEAM_INVALID);
  config.uniqueid = 7;
  EXPECT_NE(nvshmemx_team_init(&result, &config, 0, 1, 0), 0);
  EXPECT_NE(nvshmemx_team_init(&result, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, n + 1, 0), 0);
  EXPECT_NE(nvshmemx_team_init(&result, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, 1, 1), 0);
  EXPECT_NE(nvshmemx_team_init(nullptr, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, 1, 0), 0);
  EXPECT_NE(nvshmemx_team_get_uniqueid(nullptr), 0);
}

TEST(NvshmemTeamInit, may_be_tried_again_with_the_same_id_once_there_is_room) {
  setenv("PGAS_HEAP_STRIDE", "16M", 1);  // leaves few addresses for the memory of teams
  nvshmem_init();
  const int me = nvshmem_my_pe();
  const int n = nvshmem_n_pes();
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  std::vector<nvshmem_team_t> teams;
  const auto make = [&](int index) {
    nvshmem_team_t result = 99;
    const int status = nvshmemx_team_init(&result, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, n, index);
    if (status == 0) teams.push_back(result);
    return status;
  };
  config.uniqueid = 0;
  do ++config.uniqueid;
  while (make(me) == 0 && teams.size() < 1000);
  EXPECT_LT(teams.size(), 1000u);
  // The call is repeated immediately: first with the same indices, then in reverse order. At this time, other PEs do
  // not always know of the failure.
  EXPECT_EQ(make(me), NVSHMEMX_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(make(n - 1 - me), NVSHMEMX_ERROR_OUT_OF_MEMORY);
  nvshmem_team_destroy(teams.back());
  teams.pop_back();
  EXPECT_EQ(make(n - 1 - me), 0);
  EXPECT_EQ(nvshmem_team_my_pe(teams.back()), n - 1 - me);
  EXPECT_EQ(nvshmem_team_sync(teams.back()), 0);
  nvshmem_finalize();
  unsetenv("PGAS_HEAP_STRIDE");
}

}  // namespace
