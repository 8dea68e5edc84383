// Local memory of every kind as source and destination of host and stream operations, on a GPU heap.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

constexpr std::size_t n = 100'000;

/// A buffer of n ints of some kind, as the host accesses it.
struct buffer {
  const char* kind;
  std::shared_ptr<int> memory;
};

void must(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

std::vector<buffer> buffers() {
  std::vector<buffer> all;
  all.push_back({"pageable", std::shared_ptr<int>(new int[n], std::default_delete<int[]>())});
  void* p = nullptr;
  must(cudaHostAlloc(&p, n * sizeof(int), cudaHostAllocMapped));
  all.push_back({"pinned", std::shared_ptr<int>(static_cast<int*>(p), [](int* at) { cudaFreeHost(at); })});
  must(cudaMalloc(&p, n * sizeof(int)));
  all.push_back({"GPU", std::shared_ptr<int>(static_cast<int*>(p), [](int* at) { cudaFree(at); })});
  must(cudaMallocManaged(&p, n * sizeof(int)));
  all.push_back({"managed", std::shared_ptr<int>(static_cast<int*>(p), [](int* at) { cudaFree(at); })});
  return all;
}

TEST(Buffers, of_every_kind_are_sources_and_destinations) {
  pgas::world world = pgas::world::join();
  if (world.heap() != pgas::heap_kind::cuda) GTEST_SKIP() << "a GPU heap is what this is about";
  must(cudaSetDevice(world.device()));
  auto inbox = world.allocate<int>(n);
  auto heap = world.allocate<int>(n);
  const int right = (world.my_pe() + 1) % world.n_pes();
  const int left = (world.my_pe() + world.n_pes() - 1) % world.n_pes();
  pgas::stream on(world);
  std::vector<buffer> all = buffers();
  all.push_back({"heap", std::shared_ptr<int>(heap.data(), [](int*) {})});
  int round = 0;
  for (const buffer& source : all)
    for (const buffer& target : all)
      for (const bool in_turn : {false, true}) {
        SCOPED_TRACE(std::string(source.kind) + " to " + target.kind + (in_turn ? " on a stream" : ""));
        ++round;
        std::vector<int> sent(n);
        std::iota(sent.begin(), sent.end(), round * 1000 + world.my_pe());
        must(cudaMemcpy(source.memory.get(), sent.data(), n * sizeof(int), cudaMemcpyDefault));
        must(cudaDeviceSynchronize());
        world.barrier_all();
        int* const from = source.memory.get();
        int* const to = target.memory.get();
        constexpr std::size_t half = n / 2;
        if (in_turn) {
          pgas::put(world, on, inbox.data(), from, half, right);
          pgas::iput(world, on, inbox.data() + half, from + half, 1, 1, 300, right);
          pgas::ibput(world, on, inbox.data() + half + 300, from + half + 300, 100, 100, 100, (half - 300) / 100,
                      right);
          on.synchronize();
          world.barrier_all();
          pgas::get(world, on, to, inbox.data(), half, world.my_pe());
          pgas::iget(world, on, to + half, inbox.data() + half, 1, 1, 300, world.my_pe());
          pgas::ibget(world, on, to + n - 100, inbox.data() + n - 100, -100, -100, 100, (half - 300) / 100,
                      world.my_pe());
          on.synchronize();
        } else {
          pgas::put(world, inbox.data(), from, half, right);
          pgas::iput(world, inbox.data() + half, from + half, 1, 1, 300, right);
          pgas::ibput(world, inbox.data() + half + 300, from + half + 300, 100, 100, 100, (half - 300) / 100, right);
          world.barrier_all();
          pgas::get(world, to, inbox.data(), half, world.my_pe());
          pgas::iget_nbi(world, to + half, inbox.data() + half, 1, 1, 300, world.my_pe());
          pgas::ibget_nbi(world, to + n - 100, inbox.data() + n - 100, -100, -100, 100, (half - 300) / 100,
                          world.my_pe());
          pgas::quiet(world);
        }
        std::vector<int> got(n, -1);
        must(cudaMemcpy(got.data(), to, n * sizeof(int), cudaMemcpyDefault));
        std::iota(sent.begin(), sent.end(), round * 1000 + left);
        ASSERT_EQ(got, sent);
        world.barrier_all();
      }
}

TEST(Buffers, that_kernels_cannot_reach_are_refused_where_kernels_would_write) {
  pgas::world world = pgas::world::join();
  if (world.heap() != pgas::heap_kind::cuda) GTEST_SKIP() << "a GPU heap is what this is about";
  auto word = world.allocate<int>(1, pgas::initialize::zero);
  int everywhere = 0;
  must(cudaSetDevice(world.device()));
  must(cudaDeviceGetAttribute(&everywhere, cudaDevAttrPageableMemoryAccess, world.device()));
  if (everywhere != 0) GTEST_SKIP() << "this GPU reaches pageable memory";
  pgas::stream on(world);
  std::vector<int> result(1);
  try {
    pgas::atomic_fetch_add(world, on, result.data(), word.data(), 1, 0);
    ADD_FAILURE() << "expected an error";
  } catch (const pgas::error& thrown) {
    EXPECT_EQ(thrown.code(), pgas::code::invalid_argument);
  }
  world.barrier_all();
}

}  // namespace
