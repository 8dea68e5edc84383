// Tests the functions that NVSHMEM 3.8 adds: regions of host threads, counters that can be reset, atomic operations on
// 16-bit words, and teams for multicast.
#include <thread>

#include "support.hpp"

namespace {

using NvshmemRegion = Nvshmem;

int active(uint32_t hints) {
  int yes = -1;
  EXPECT_EQ(nvshmemx_region_is_active(hints, &yes), NVSHMEMX_SUCCESS);
  return yes;
}

nvshmemx_region_attrs_t batch() {
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  attrs.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
  return attrs;
}

TEST_F(NvshmemRegion, of_a_thread_begins_and_ends_once) {
  const nvshmemx_region_attrs_t attrs = batch();
  nvshmemx_region_handle_t first = 0, second = 0;
  EXPECT_EQ(active(NVSHMEMX_REGION_HINT_NONE), 0);
  ASSERT_EQ(nvshmemx_region_start(&first, &attrs), NVSHMEMX_SUCCESS);
  EXPECT_EQ(active(NVSHMEMX_REGION_HINT_NONE), 1);
  EXPECT_EQ(active(NVSHMEMX_REGION_HINT_BATCH_RMA), 1);
  EXPECT_EQ(nvshmemx_region_start(&second, &attrs), NVSHMEMX_ERROR_INVALID_VALUE);
  std::thread([first] {
    EXPECT_EQ(active(NVSHMEMX_REGION_HINT_NONE), 0);
    EXPECT_EQ(nvshmemx_region_stop(first), NVSHMEMX_ERROR_INVALID_VALUE);
    nvshmemx_region_handle_t own = 0;
    EXPECT_EQ(nvshmemx_region_start(&own, nullptr), NVSHMEMX_SUCCESS);
    EXPECT_NE(own, first);
    EXPECT_EQ(active(NVSHMEMX_REGION_HINT_BATCH_RMA), 0);
    EXPECT_EQ(nvshmemx_region_stop(own), NVSHMEMX_SUCCESS);
  }).join();
  EXPECT_EQ(nvshmemx_region_stop(first), NVSHMEMX_SUCCESS);
  EXPECT_EQ(nvshmemx_region_stop(first), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(active(NVSHMEMX_REGION_HINT_NONE), 0);
}

TEST_F(NvshmemRegion, ends_with_the_world) {
  nvshmemx_region_handle_t left = 0, next = 0;
  ASSERT_EQ(nvshmemx_region_start(&left, nullptr), NVSHMEMX_SUCCESS);
  nvshmem_finalize();
  nvshmem_init();
  EXPECT_EQ(active(NVSHMEMX_REGION_HINT_NONE), 0);
  EXPECT_EQ(nvshmemx_region_stop(left), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_region_start(&next, nullptr), NVSHMEMX_SUCCESS);
  EXPECT_NE(next, left);
  EXPECT_EQ(nvshmemx_region_stop(next), NVSHMEMX_SUCCESS);
}

TEST_F(NvshmemRegion, takes_no_bad_arguments) {
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  attrs.hints = 2;
  nvshmemx_region_handle_t handle = 0;
  int yes = 7;
  EXPECT_EQ(nvshmemx_region_start(nullptr, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_region_start(&handle, &attrs), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_region_is_active(2, &yes), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_region_is_active(0, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(yes, 7);
  EXPECT_EQ(nvshmemx_region_stop(0), NVSHMEMX_ERROR_INVALID_VALUE);
}

/// Data that is put in a region is sent before the region ends, and is complete after a quiet.
TEST_F(NvshmemRegion, delays_no_copy) {
  const Symmetric<int> words(64);
  const Symmetric<uint64_t> signal(1);
  const nvshmemx_region_attrs_t attrs = batch();
  nvshmemx_region_handle_t handle = 0;
  ASSERT_EQ(nvshmemx_region_start(&handle, &attrs), NVSHMEMX_SUCCESS);
  int sent[64];
  for (int i = 0; i < 64; ++i) sent[i] = 100 * me + i;
  for (int i = 0; i < 64; ++i) nvshmem_int_put_nbi(words + i, sent + i, 1, (me + 1) % n);
  nvshmem_fence();
  nvshmemx_signal_op(signal, 1, NVSHMEM_SIGNAL_SET, (me + 1) % n);
  // The neighbour sends this signal before it stops its region.
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(words[i], 100 * ((me + n - 1) % n) + i);
  nvshmem_barrier_all();
  EXPECT_EQ(nvshmemx_region_stop(handle), NVSHMEMX_SUCCESS);
}

// ---- other functions ----

using Nvshmem38 = Nvshmem;

TEST_F(Nvshmem38, counters_are_reset) {
  const Symmetric<uint64_t> counter(1);
  nvshmemx_signal_op(counter, 4096, NVSHMEM_SIGNAL_ADD, (me + 1) % n);
  nvshmem_signal_wait_until(counter, NVSHMEM_CMP_GE, 4096);
  nvshmemx_signal_counted_reset(counter);
  EXPECT_EQ(nvshmem_signal_fetch(counter), 0u);
  nvshmem_barrier_all();
}

TEST_F(Nvshmem38, half_words_are_atomic) {
  const Symmetric<half> words(2);
  const int right = (me + 1) % n;
  nvshmem_half_atomic_set(words, __float2half(1.5f), right);
  nvshmem_barrier_all();
  EXPECT_EQ(__half2float(nvshmem_half_atomic_fetch(words, right)), 1.5f);
  EXPECT_EQ(__half2float(nvshmem_half_atomic_swap(words, __float2half(-0.25f), right)), 1.5f);
  nvshmem_barrier_all();
  EXPECT_EQ(__half2float(nvshmem_half_atomic_fetch(words, me)), -0.25f);
  EXPECT_EQ(__half2float(words[1]), 0.f) << "the word beside it is left alone";
  nvshmem_barrier_all();
}

TEST_F(Nvshmem38, lent_memory_is_asked_for_on_the_host) {
  EXPECT_EQ(nvshmemx_ask_smem(NVSHMEMX_SMEM_RECOMMENDED), 64 << 10);
  EXPECT_EQ(nvshmemx_ask_smem(NVSHMEMX_SMEM_MINIMUM), 32 << 10);
  EXPECT_EQ(nvshmemx_ask_smem(NVSHMEMX_SMEM_BARRIERS_ONLY), 1136);
}

TEST_F(Nvshmem38, the_team_of_one_multicast_object_has_the_pes_that_stores_reach) {
  EXPECT_EQ(nvshmem_team_n_pes(NVSHMEM_TEAM_MC_SHARED), nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED));
  EXPECT_EQ(nvshmem_team_my_pe(NVSHMEM_TEAM_MC_SHARED), nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED));
  EXPECT_EQ(nvshmem_team_sync(NVSHMEM_TEAM_MC_SHARED), 0);
  for (const int none : {int{NVSHMEM_TEAM_SAME_GPU_INDEX}, int{NVSHMEM_TEAM_GPU_LEADERS_INDEX}})
    EXPECT_EQ(nvshmem_team_n_pes(none), -1);
  nvshmem_team_t result = NVSHMEM_TEAM_INVALID;
  ASSERT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_MC_SHARED, 0, 1, 1, nullptr, 0, &result), 0);
  EXPECT_TRUE(me != 0 || result >= NVSHMEM_TEAMS_MIN) << result;
  nvshmem_team_destroy(result);
}

}  // namespace
