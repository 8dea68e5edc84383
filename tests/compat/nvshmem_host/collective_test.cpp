// Collectives that the host calls.
#include <stdint.h>

#include <vector>

#include "support.hpp"

namespace {

using NvshmemCollective = Nvshmem;

TEST_F(NvshmemCollective, move_everyones_elements) {
  const size_t count = 5;
  const size_t all = count * static_cast<size_t>(n);
  Symmetric<int> src(all);
  Symmetric<int> dst(all);
  for (size_t i = 0; i < all; ++i) src[i] = me * 1000 + static_cast<int>(i);
  ASSERT_EQ(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, dst, src, count), 0);
  for (int from = 0; from < n; ++from)
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(dst[static_cast<size_t>(from) * count + i], from * 1000 + static_cast<int>(i));
  nvshmem_barrier_all();
  ASSERT_EQ(nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, dst, src, count), 0);
  for (int from = 0; from < n; ++from)
    EXPECT_EQ(dst[static_cast<size_t>(from) * count], from * 1000 + me * static_cast<int>(count));
  nvshmem_barrier_all();
  ASSERT_EQ(nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, dst, src, count, n - 1), 0);
  EXPECT_EQ(dst[4], (n - 1) * 1000 + 4);
  nvshmem_barrier_all();
  ASSERT_EQ(nvshmem_fcollectmem(NVSHMEM_TEAM_WORLD, dst, src, 3), 0);
  ASSERT_EQ(nvshmem_alltoallmem(NVSHMEM_TEAM_WORLD, dst, src, 3), 0);
  EXPECT_EQ(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, dst, src, 0), 0);
}

TEST_F(NvshmemCollective, combine_everyones_elements) {
  Symmetric<int8_t> small(2);
  Symmetric<int8_t> least(2);
  small[0] = static_cast<int8_t>(me == 0 ? 1 : -me);
  small[1] = static_cast<int8_t>(me);
  ASSERT_EQ(nvshmem_int8_min_reduce(NVSHMEM_TEAM_WORLD, least, small, 2), 0);
  EXPECT_EQ(least[0], n == 1 ? 1 : 1 - n);
  ASSERT_EQ(nvshmem_int8_max_reduce(NVSHMEM_TEAM_WORLD, least, small, 2), 0);
  EXPECT_EQ(least[0], 1);

  Symmetric<double> real(1);
  Symmetric<double> sum(1);
  *real = 0.25 * (me + 1);
  ASSERT_EQ(nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, sum, real, 1), 0);
  EXPECT_EQ(*sum, 0.125 * n * (n + 1));
  ASSERT_EQ(nvshmem_double_prod_reduce(NVSHMEM_TEAM_WORLD, sum, real, 1), 0);

  Symmetric<uint16_t> bits(1);
  Symmetric<uint16_t> all(1);
  *bits = static_cast<uint16_t>(1u << me | 0x8000u);
  ASSERT_EQ(nvshmem_uint16_or_reduce(NVSHMEM_TEAM_WORLD, all, bits, 1), 0);
  EXPECT_EQ(*all, 0x8000u | ((1u << n) - 1));
  ASSERT_EQ(nvshmem_uint16_and_reduce(NVSHMEM_TEAM_WORLD, all, bits, 1), 0);
  EXPECT_EQ(*all, n == 1 ? 0x8001u : 0x8000u);
  ASSERT_EQ(nvshmem_uint16_xor_reduce(NVSHMEM_TEAM_WORLD, all, bits, 1), 0);

  const size_t wide = static_cast<size_t>(n) * 2;
  Symmetric<int64_t> blocks(wide);
  Symmetric<int64_t> mine(2);
  for (size_t i = 0; i < wide; ++i) blocks[i] = static_cast<int64_t>(i) << 33;
  ASSERT_EQ(nvshmem_int64_sum_reducescatter(NVSHMEM_TEAM_WORLD, mine, blocks, 2), 0);
  EXPECT_EQ(mine[1], static_cast<int64_t>(n) * (static_cast<int64_t>(2 * me + 1) << 33));
}

// The program's streams are CUDA streams. The host heap supports no CUDA streams, so no collective is enqueued on any
// stream: each PE gets an error, and collectives of the same team that the host calls in between are not affected.
TEST_F(NvshmemCollective, on_two_streams_are_refused_and_leave_the_team_in_order) {
  const size_t count = 64;
  const size_t all = count * static_cast<size_t>(n);
  Symmetric<float> src(count);
  Symmetric<float> sum(count);
  Symmetric<float> gathered(all);
  int places[2];
  cudaStream_t streams[2] = {reinterpret_cast<cudaStream_t>(&places[0]), reinterpret_cast<cudaStream_t>(&places[1])};
  for (int round = 1; round <= 20; ++round) {
    for (size_t i = 0; i < count; ++i) src[i] = static_cast<float>(round * (me + 1));
    for (cudaStream_t stream : streams) {
      EXPECT_EQ(nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, src, count, stream),
                NVSHMEMX_ERROR_INVALID_VALUE);
      EXPECT_EQ(nvshmemx_float_fcollect_on_stream(NVSHMEM_TEAM_WORLD, gathered, src, count, stream),
                NVSHMEMX_ERROR_INVALID_VALUE);
    }
    ASSERT_EQ(nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, sum, src, count), 0);
    EXPECT_EQ(sum[count - 1], static_cast<float>(round * n * (n + 1) / 2));
    nvshmem_barrier_all();
  }
}

TEST_F(NvshmemCollective, of_halves_by_their_types) {
  Symmetric<half> h(1);
  Symmetric<half> sum(1);
  *h = __float2half(1.5f);
  ASSERT_EQ(nvshmem_half_sum_reduce(NVSHMEM_TEAM_WORLD, sum, h, 1), 0);
  EXPECT_EQ(__half2float(*sum), 1.5f * static_cast<float>(n));
  Symmetric<__nv_bfloat16> b(1);
  Symmetric<__nv_bfloat16> most(1);
  *b = __float2bfloat16(static_cast<float>(me));
  ASSERT_EQ(nvshmem_bfloat16_max_reduce(NVSHMEM_TEAM_WORLD, most, b, 1), 0);
  EXPECT_EQ(__bfloat162float(*most), static_cast<float>(n - 1));
}

TEST_F(NvshmemCollective, of_a_team_leave_the_others_alone) {
  nvshmem_team_t even = NVSHMEM_TEAM_INVALID;
  ASSERT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, nullptr, 0, &even), 0);
  Symmetric<long> src(1);
  Symmetric<long> dst(1);
  *src = me;
  *dst = -1;
  if (even != NVSHMEM_TEAM_INVALID) {
    EXPECT_EQ(nvshmem_long_max_reduce(even, dst, src, 1), 0);
    EXPECT_EQ(*dst, (n - 1) / 2 * 2);
  }
  nvshmem_barrier_all();
  if (even == NVSHMEM_TEAM_INVALID) {
    EXPECT_EQ(*dst, -1);
    EXPECT_EQ(nvshmem_long_max_reduce(even, dst, src, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  }
}

TEST_F(NvshmemCollective, wrong_arguments_have_a_status) {
  Symmetric<int> src(8);
  Symmetric<int> dst(8);
  int local[8] = {};
  EXPECT_EQ(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, local, src, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, dst, local, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, nullptr, src, 1), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, dst, src, SIZE_MAX), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, dst, src, 1, n), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_int_broadcast(99, dst, src, 1, 0), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_barrier(NVSHMEM_TEAM_INVALID), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmem_sync(NVSHMEM_TEAM_WORLD), 0);
  nvshmem_sync_all();
}

}  // namespace
