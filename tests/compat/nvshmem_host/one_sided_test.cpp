// One-sided operations, signals, atomics and waits, called by the host.
#include <stdint.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "support.hpp"

namespace {

class NvshmemRma : public Nvshmem {
 protected:
  void SetUp() override {
    Nvshmem::SetUp();
    right = (me + 1) % n;
    left = (me + n - 1) % n;
  }
  int right = 0;
  int left = 0;
};

TEST_F(NvshmemRma, copies_of_every_size) {
  Symmetric<char> remote(4096);
  for (const unsigned bytes : {0u, 1u, 2u, 3u, 8u, 15u, 16u, 17u, 255u, 4096u}) {
    std::vector<char> mine(bytes);
    std::iota(mine.begin(), mine.end(), static_cast<char>(me));
    nvshmem_putmem(remote, mine.data(), bytes, right);
    nvshmem_barrier_all();
    std::vector<char> expected(bytes);
    std::iota(expected.begin(), expected.end(), static_cast<char>(left));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<const char*>(remote))) << bytes;
    std::vector<char> back(bytes);
    nvshmem_getmem(back.data(), remote, bytes, right);
    EXPECT_EQ(back, mine);
    nvshmem_barrier_all();
  }
}

TEST_F(NvshmemRma, non_blocking_copies_are_there_after_quiet) {
  Symmetric<int> remote(8);
  std::vector<int> mine(8, 10 + me);
  std::vector<int> back(8, -1);
  nvshmem_int_put_nbi(remote, mine.data(), 8, right);
  nvshmem_quiet();
  nvshmem_int_get_nbi(back.data(), remote, 8, right);
  nvshmem_quiet();
  EXPECT_EQ(back, mine);
  nvshmem_barrier_all();
  EXPECT_EQ(remote[7], 10 + left);
}

TEST_F(NvshmemRma, strided_copies) {
  Symmetric<short> remote(12);
  const short mine[] = {1, -1, 2, -2, 3, -3};
  nvshmem_short_iput(remote, mine, 3, 2, 3, right);
  nvshmem_barrier_all();
  EXPECT_EQ(remote[0], 1);
  EXPECT_EQ(remote[3], 2);
  EXPECT_EQ(remote[6], 3);
  EXPECT_EQ(remote[1], 0);
  short back[6] = {};
  nvshmem_short_iget(back, remote, 2, 3, 3, right);
  EXPECT_EQ(back[4], 3);
  EXPECT_EQ(back[3], 0);
  uint64_t wide[4] = {1, 2, 3, 4};
  Symmetric<uint64_t> blocks(8);
  nvshmem_iput128(blocks, wide, 2, 1, 2, right);
  nvshmem_barrier_all();
  EXPECT_EQ(blocks[0], 1u);
  EXPECT_EQ(blocks[1], 2u);
  EXPECT_EQ(blocks[2], 0u);
  EXPECT_EQ(blocks[4], 3u);
  EXPECT_EQ(blocks[5], 4u);
}

TEST_F(NvshmemRma, single_values) {
  Symmetric<double> d(1);
  Symmetric<char> c(1);
  nvshmem_double_p(d, 0.5 + me, right);
  nvshmem_char_p(c, static_cast<char>('a' + me), right);
  nvshmem_barrier_all();
  EXPECT_EQ(*d, 0.5 + left);
  EXPECT_EQ(nvshmem_double_g(d, right), 0.5 + me);
  EXPECT_EQ(nvshmem_char_g(c, right), 'a' + me);
}

TEST_F(NvshmemRma, a_signal_comes_after_its_data) {
  Symmetric<int> remote(64);
  Symmetric<uint64_t> signal(2);
  for (int round = 1; round <= 50; ++round) {
    std::vector<int> mine(64, round * 100 + me);
    if (round % 2 == 0)
      nvshmem_int_put_signal(remote, mine.data(), 64, signal, 1, NVSHMEM_SIGNAL_ADD, right);
    else
      nvshmem_int_put_signal_nbi(remote, mine.data(), 64, signal, static_cast<uint64_t>(round), NVSHMEM_SIGNAL_SET,
                                 right);
    EXPECT_GE(nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, static_cast<uint64_t>(round)),
              static_cast<uint64_t>(round));
    EXPECT_EQ(remote[63], round * 100 + left);
    nvshmem_quiet();
    nvshmem_barrier_all();
  }
  nvshmemx_signal_op(signal + 1, 5, NVSHMEM_SIGNAL_SET, right);
  nvshmemx_signal_op(signal + 1, 2, NVSHMEM_SIGNAL_ADD, right);
  nvshmem_barrier_all();
  EXPECT_EQ(nvshmem_signal_fetch(signal + 1), 7u);
}

TEST_F(NvshmemRma, atomics_work_on_all_bits) {
  Symmetric<uint64_t> word(1);
  const uint64_t big = uint64_t{1} << 40;
  nvshmem_barrier_all();
  for (int i = 0; i < 10; ++i) nvshmem_uint64_atomic_add(word, big, 0);
  nvshmem_barrier_all();
  EXPECT_EQ(nvshmem_uint64_atomic_fetch(word, 0), big * 10 * static_cast<uint64_t>(n));
  nvshmem_barrier_all();

  Symmetric<long> own(1);
  nvshmem_long_atomic_set(own, std::numeric_limits<long>::min(), me);
  EXPECT_EQ(nvshmem_long_atomic_swap(own, -2, me), std::numeric_limits<long>::min());
  EXPECT_EQ(nvshmem_long_atomic_compare_swap(own, -1, 9, me), -2);
  EXPECT_EQ(nvshmem_long_atomic_compare_swap(own, -2, 9, me), -2);
  EXPECT_EQ(nvshmem_long_atomic_fetch_inc(own, me), 9);
  nvshmem_long_atomic_inc(own, me);
  EXPECT_EQ(nvshmem_long_atomic_fetch_add(own, -1, me), 11);
  EXPECT_EQ(nvshmem_long_atomic_fetch(own, me), 10);

  Symmetric<uint32_t> bits(1);
  nvshmem_uint32_atomic_set(bits, 0xff00ff00u, me);
  EXPECT_EQ(nvshmem_uint32_atomic_fetch_and(bits, 0x0ff00ff0u, me), 0xff00ff00u);
  EXPECT_EQ(nvshmem_uint32_atomic_fetch_or(bits, 1, me), 0x0f000f00u);
  EXPECT_EQ(nvshmem_uint32_atomic_fetch_xor(bits, 3, me), 0x0f000f01u);
  nvshmem_uint32_atomic_and(bits, 0xf, me);
  nvshmem_uint32_atomic_or(bits, 4, me);
  nvshmem_uint32_atomic_xor(bits, 1, me);
  EXPECT_EQ(nvshmem_uint32_atomic_fetch(bits, me), 7u);

  Symmetric<float> real(1);
  nvshmem_float_atomic_set(real, -1.5f, right);
  nvshmem_barrier_all();
  EXPECT_EQ(nvshmem_float_atomic_swap(real, 2.5f, me), -1.5f);
  EXPECT_EQ(nvshmem_float_atomic_fetch(real, me), 2.5f);
}

TEST_F(NvshmemRma, waits_and_tests) {
  Symmetric<int> words(4);
  EXPECT_EQ(nvshmem_int_test(words, NVSHMEM_CMP_NE, 0), 0);
  EXPECT_EQ(nvshmem_int_test_any(words, 4, nullptr, NVSHMEM_CMP_GT, 0), SIZE_MAX);
  nvshmem_barrier_all();
  nvshmem_int_p(words + 2, 5, right);
  nvshmem_int_wait_until(words + 2, NVSHMEM_CMP_EQ, 5);
  EXPECT_EQ(nvshmem_int_wait_until_any(words, 4, nullptr, NVSHMEM_CMP_GT, 0), 2u);
  const int status[] = {0, 0, 1, 0};
  EXPECT_EQ(nvshmem_int_test_any(words, 4, status, NVSHMEM_CMP_GT, 0), SIZE_MAX);
  size_t indices[4] = {};
  EXPECT_EQ(nvshmem_int_wait_until_some(words, 4, indices, nullptr, NVSHMEM_CMP_GE, 5), 1u);
  EXPECT_EQ(indices[0], 2u);
  int values[] = {0, 0, 5, 0};
  EXPECT_EQ(nvshmem_int_test_all_vector(words, 4, nullptr, NVSHMEM_CMP_EQ, values), 1);
  nvshmem_int_wait_until_all_vector(words, 4, nullptr, NVSHMEM_CMP_LE, values);
  EXPECT_EQ(nvshmem_int_test_all(words, 4, nullptr, NVSHMEM_CMP_GT, 0), 0);
  EXPECT_EQ(nvshmem_int_test_some(words, 4, indices, nullptr, NVSHMEM_CMP_LT, 5), 3u);
  std::set<size_t> seen;
  for (int calls = 0; calls < 200; ++calls) {
    seen.insert(nvshmem_int_wait_until_any(words, 4, nullptr, NVSHMEM_CMP_LT, 5));
    seen.insert(10 + nvshmem_int_test_any_vector(words, 4, nullptr, NVSHMEM_CMP_EQ, values));
  }
  EXPECT_EQ(seen, (std::set<size_t>{0, 1, 3, 10, 11, 12, 13})) << "each in the end";
  nvshmem_barrier_all();
}

TEST_F(NvshmemRma, nothing_to_copy) {
  Symmetric<int> remote(4);
  int local[4] = {};
  // The program's streams are CUDA streams, which the host heap does not support.
  EXPECT_EQ(nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  nvshmem_int_put(remote, local, 0, me);
  nvshmem_fence();
  nvshmem_quiet();
}

TEST_F(NvshmemRma, threads_may_call_at_once) {
  Symmetric<uint64_t> word(1);
  nvshmem_barrier_all();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) nvshmem_uint64_atomic_inc(word, 0);
    });
  for (std::thread& thread : threads) thread.join();
  nvshmem_barrier_all();
  EXPECT_EQ(nvshmem_uint64_atomic_fetch(word, 0), 300u * static_cast<unsigned>(n));
}

}  // namespace
