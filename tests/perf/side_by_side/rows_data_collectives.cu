// Collectives that move data. One block of each PE calls them, one after another.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "bench.hpp"
#include "kernel.cuh"

namespace side_by_side {

namespace {

__global__ void __launch_bounds__(512) alltoall(arguments a) {
  const std::size_t each = a.words / static_cast<std::size_t>(a.n);
  repeat(a, [&](int) { nvshmemx_uint64_alltoall_block(NVSHMEM_TEAM_WORLD, a.dest, a.source, each); });
}

__global__ void __launch_bounds__(512) fcollect(arguments a) {
  const std::size_t each = a.words / static_cast<std::size_t>(a.n);
  repeat(a, [&](int) { nvshmemx_uint64_fcollect_block(NVSHMEM_TEAM_WORLD, a.dest, a.source, each); });
}

__global__ void __launch_bounds__(512) broadcast(arguments a) {
  repeat(a, [&](int) { nvshmemx_uint64_broadcast_block(NVSHMEM_TEAM_WORLD, a.dest, a.source, a.words, 0); });
}

void rows(bench& pes, report& to) {
  const int threads = to.asked().collective_threads;
  const auto n = static_cast<std::size_t>(pes.n());
  const auto measure = [&](const char* name, const void* function, std::size_t bytes, expected as) {
    const std::size_t words = bytes / 8 / n * n;
    as.seed = pes.seed();
    as.pes = pes.n();
    as.each = words / n;
    pes.measure(to, {name, bytes, 1, threads, "us"}, {function, 1, threads, words, words, as});
  };
  for (const std::size_t bytes : {128, 64 << 10, 1 << 20})
    measure("alltoall", reinterpret_cast<const void*>(&alltoall), bytes, {expected::exchanged, 0, pes.me()});
  for (const std::size_t bytes : {64, 64 << 10, 1 << 20})
    measure("fcollect", reinterpret_cast<const void*>(&fcollect), bytes, {expected::gathered});
  for (const std::size_t bytes : {128, 64 << 10, 1 << 20})
    measure("broadcast", reinterpret_cast<const void*>(&broadcast), bytes, {expected::of_pe, 0, 0});
}

const registration announced(60, &rows);

}  // namespace

}  // namespace side_by_side
