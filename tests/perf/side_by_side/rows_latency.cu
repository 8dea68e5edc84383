// Latencies: PE 0 does one thing after another, each complete at PE 1 before the next begins.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

namespace side_by_side {

namespace {

__global__ void __launch_bounds__(1024) put_latency(arguments a) {
  if (a.me != 0) return;
  repeat(a, [&](int) {
    ops::put_block(a, a.words);
    __syncthreads();
    if (threadIdx.x == 0) ops::quiet();
    __syncthreads();
  });
}

__global__ void __launch_bounds__(1024) get_latency(arguments a) {
  if (a.me != 0) return;
  repeat(a, [&](int i) {
    ops::get_block(a, window(a, i), a.words);
    __syncthreads();
  });
}

__global__ void p_latency(arguments a) {
  if (a.me != 0) return;
  repeat(a, [&](int) {
    ops::p(a, 0, a.source[0]);
    ops::quiet();
  });
}

/// What is added depends on what was there: no two are on their way at once.
__global__ void fetch_add(arguments a) {
  if (a.me != 0) return;
  unsigned long long wrong = 0;
  repeat(a, [&](int i) {
    const std::uint64_t late = ops::fetch_add(a, 1 + wrong) - static_cast<std::uint64_t>(i);
    wrong += late;
  });
  *a.wrong = wrong;
}

__global__ void inc(arguments a) {
  if (a.me != 0) return;
  repeat(a, [&](int) {
    ops::inc(a);
    ops::quiet();
  });
}

/// A row whose data is a counter in PE 1's signal.
void measure_counter(bench& pes, report& to, const char* name, const void* function) {
  const kernel what{function, 1, 1, 1};
  work how;
  how.prepare = [&] { pes.prepare(0); };
  how.run = [&](int iterations) { return pes.run(what, iterations); };
  how.wrong = [&](int iterations) -> std::uint64_t {
    if (pes.me() != 1) return pes.counted_wrong();
    const arguments a = pes.arguments_for(what, iterations);
    std::uint64_t found = 0;
    must(cudaMemcpy(&found, a.signal, sizeof found, cudaMemcpyDeviceToHost), "checking");
    return found == static_cast<std::uint64_t>(a.warm_up + a.iterations) ? 0 : 1;
  };
  to.measure({name, 8, 1, 1, "us"}, how);
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  const auto measure = [&](const char* name, const void* function, std::size_t bytes, int threads, bool writes) {
    const expected as{expected::of_pe, pes.seed(), writes ? 0 : 1};
    const kernel what{function, 1, threads, bytes / 8, bytes / 8, as, true, writes ? 1 : 0};
    pes.measure(to, {name, bytes, 1, threads, "us"}, what);
  };
  for (const std::size_t bytes : {8, 4096, 65536})
    measure("put_lat", reinterpret_cast<const void*>(&put_latency), bytes, 1024, true);
  for (const std::size_t bytes : {8, 4096, 65536})
    measure("get_lat", reinterpret_cast<const void*>(&get_latency), bytes, 1024, false);
  measure("p_lat", reinterpret_cast<const void*>(&p_latency), 8, 1, true);
  measure_counter(pes, to, "atomic_fetch_add", reinterpret_cast<const void*>(&fetch_add));
  measure_counter(pes, to, "atomic_inc", reinterpret_cast<const void*>(&inc));
}

const registration announced(30, &rows);

}  // namespace

}  // namespace side_by_side
