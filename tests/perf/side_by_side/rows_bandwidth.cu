// Bandwidths: PE 0 repeatedly copies from or to PE 1. Each block copies its part, and a quiet follows the last copy.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

namespace side_by_side {

namespace {

/// The words that this block copies.
struct part {
  std::size_t at;
  std::size_t words;
};
__device__ part mine(const arguments& a) {
  const std::size_t each = a.words / gridDim.x;
  return {blockIdx.x * each, each};
}

/// Completes the puts of a block.
struct complete {
  __device__ void operator()() const {
    __syncthreads();
    if (threadIdx.x == 0) ops::quiet();
  }
};

__global__ void __launch_bounds__(1024) put_bw(arguments a) {
  if (a.me != 0) return;
  const part here = mine(a);
  repeat(
      a, [&](int) { ops::put_nbi_block(a, here.at, here.words); }, complete{});
}

__global__ void __launch_bounds__(1024) get_bw(arguments a) {
  if (a.me != 0) return;
  const part here = mine(a);
  repeat(
      a, [&](int i) { ops::get_nbi_block(a, window(a, i) + here.at, here.words); }, complete{});
}

/// Copies words one by one, with a few words of each thread in flight at the same time.
template <class Load, class Store>
__device__ void words_one_by_one(const part& here, Load load, Store store) {
  constexpr int at_once = 4;
  const std::size_t end = here.at + here.words;
#pragma unroll 1
  for (std::size_t i = here.at + threadIdx.x; i < end; i += at_once * blockDim.x) {
    std::uint64_t values[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (i + u * blockDim.x < end) values[u] = load(i + u * blockDim.x);
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (i + u * blockDim.x < end) store(i + u * blockDim.x, values[u]);
  }
}

__global__ void __launch_bounds__(1024) p_bw(arguments a) {
  if (a.me != 0) return;
  const part here = mine(a);
  const auto load = [&](std::size_t i) { return a.source[i]; };
  const auto store = [&](std::size_t i, std::uint64_t value) { ops::p(a, i, value); };
  repeat(
      a, [&](int) { words_one_by_one(here, load, store); }, complete{});
}

__global__ void __launch_bounds__(1024) g_bw(arguments a) {
  if (a.me != 0) return;
  const part here = mine(a);
  const auto load = [&](std::size_t i) { return ops::g(a, i); };
  const auto store = [&](std::size_t i, std::uint64_t value) { a.dest[i] = value; };
  repeat(
      a, [&](int) { words_one_by_one(here, load, store); }, complete{});
}

constexpr std::size_t large = 32 << 20;

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  const auto measure = [&](const char* name, const void* function, std::size_t bytes, int blocks, bool writes) {
    const int from = writes ? 0 : 1;
    const int at = writes ? 1 : 0;
    const kernel what{function, blocks, 1024, bytes / 8, bytes / 8, {expected::of_pe, pes.seed(), from}, true, at};
    pes.measure(to, {name, bytes, blocks, 1024, "GB/s", 20}, what);
  };
  const auto sweep = [&](const char* name, const void* function, bool writes) {
    for (const int blocks : {1, 4, 8, 32}) measure(name, function, large, blocks, writes);
    for (std::size_t bytes = 1 << 10; bytes < large; bytes *= 4) measure(name, function, bytes, 8, writes);
  };
  sweep("put_bw", reinterpret_cast<const void*>(&put_bw), true);
  sweep("get_bw", reinterpret_cast<const void*>(&get_bw), false);
  measure("p_bw", reinterpret_cast<const void*>(&p_bw), large, 32, true);
  measure("g_bw", reinterpret_cast<const void*>(&g_bw), large, 32, false);
}

const registration announced(10, &rows);

}  // namespace

}  // namespace side_by_side
