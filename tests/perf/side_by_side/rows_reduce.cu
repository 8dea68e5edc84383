// Reductions over all PEs. One block of each PE calls them, one after another.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "bench.hpp"
#include "kernel.cuh"

namespace side_by_side {

namespace {

__global__ void __launch_bounds__(512) allreduce(arguments a) {
  auto* const dest = reinterpret_cast<std::int64_t*>(a.dest);
  const auto* const source = reinterpret_cast<const std::int64_t*>(a.source);
  repeat(a, [&](int) { nvshmemx_int64_sum_reduce_block(NVSHMEM_TEAM_WORLD, dest, source, a.words); });
}

void rows(bench& pes, report& to) {
  const int threads = to.asked().collective_threads;
  for (const std::size_t bytes : {64, 8 << 10, 64 << 10, 512 << 10}) {
    const expected as{expected::summed, pes.seed(), 0, pes.n()};
    pes.measure(to, {"allreduce", bytes, 1, threads, "us"},
                {reinterpret_cast<const void*>(&allreduce), 1, threads, bytes / 8, bytes / 8, as});
  }
}

const registration announced(50, &rows);

}  // namespace

}  // namespace side_by_side
