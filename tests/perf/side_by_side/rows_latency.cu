// Latencies: PE 0 executes one operation after another. Each operation is complete at PE 1 before the next one begins.
#include <vector>

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

/// Puts a word to a different location in each iteration.
__global__ void __launch_bounds__(1024) put_word_latency(arguments a) {
  if (a.me != 0) return;
  arguments now = a;
  repeat(a, [&](int i) {
    now.dest = a.dest + place(i);
    now.dest_there = a.dest_there + place(i);
    now.source = a.source + place(i);
    ops::put_block(now, 1);
    __syncthreads();
    if (threadIdx.x == 0) ops::quiet();
    __syncthreads();
  });
}

__global__ void p_latency(arguments a) {
  if (a.me != 0) return;
  repeat(a, [&](int i) {
    ops::p(a, place(i), a.source[place(i)]);
    ops::quiet();
  });
}

/// Calls body(now, i). In each iteration, `now` contains the address of a different counter of the peer.
template <class Body>
__device__ void with_counters(const arguments& a, Body body) {
  arguments now = a;
  repeat(a, [&](int i) {
    now.signal = a.signal + place(i);
    now.signal_there = a.signal_there + place(i);
    body(now, i);
  });
}

/// The addend depends on the previous result, so no two operations are in flight at the same time.
__global__ void fetch_add(arguments a) {
  if (a.me != 0) return;
  unsigned long long wrong = 0;
  with_counters(a, [&](const arguments& now, int i) {
    const std::uint64_t late = ops::fetch_add(now, 1 + wrong) - static_cast<std::uint64_t>(i / places);
    wrong += late;
  });
  *a.wrong = wrong;
}

__global__ void inc(arguments a) {
  if (a.me != 0) return;
  with_counters(a, [&](const arguments& now, int) {
    ops::inc(now);
    ops::quiet();
  });
}

/// Measures a row whose operations access single words of PE 1. After `made` iterations, `wrong(words, made)` returns
/// the number of wrong words.
template <class Wrong>
void measure_words(bench& pes, report& to, const row& kernel_row, const void* function, bool counters, Wrong wrong) {
  const kernel what{function, 1, kernel_row.threads, 1};
  work how;
  how.prepare = [&] { pes.prepare(places * place_words * sizeof(std::uint64_t)); };
  how.run = [&](int iterations) { return pes.run(what, iterations); };
  how.wrong = [&](int iterations) -> std::uint64_t {
    if (pes.me() != 1) return pes.counted_wrong();
    const arguments a = pes.arguments_for(what, iterations);
    std::vector<std::uint64_t> found(places * place_words);
    must(cudaMemcpy(found.data(), counters ? a.signal : a.dest, found.size() * sizeof found[0], cudaMemcpyDeviceToHost),
         "checking");
    std::uint64_t n_wrong = 0;
    for (int i = 0; i < places; ++i) n_wrong += wrong(i, found[place(i)], a.warm_up + a.iterations) ? 1 : 0;
    return n_wrong;
  };
  to.measure(kernel_row, how);
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  const auto measure = [&](const char* name, const void* function, std::size_t bytes, int threads, bool writes) {
    const expected as{expected::of_pe, pes.seed(), writes ? 0 : 1};
    const kernel what{function, 1, threads, bytes / 8, bytes / 8, as, true, writes ? 1 : 0};
    pes.measure(to, {name, bytes, 1, threads, "us"}, what);
  };
  const auto not_stored = [&](int i, std::uint64_t found, int result) {
    return i < result && found != word(pes.seed(), 0, place(i));
  };
  const auto miscounted = [](int i, std::uint64_t found, int result) {
    return found != static_cast<std::uint64_t>((result - i + places - 1) / places);
  };
  const auto measure_word = [&](const char* name, const void* function, int threads) {
    measure_words(pes, to, {name, 8, 1, threads, "us"}, function, false, not_stored);
  };
  const auto measure_counter = [&](const char* name, const void* function) {
    measure_words(pes, to, {name, 8, 1, 1, "us"}, function, true, miscounted);
  };
  measure_word("put_lat", reinterpret_cast<const void*>(&put_word_latency), 1024);
  for (const std::size_t bytes : {4096, 65536})
    measure("put_lat", reinterpret_cast<const void*>(&put_latency), bytes, 1024, true);
  for (const std::size_t bytes : {8, 4096, 65536})
    measure("get_lat", reinterpret_cast<const void*>(&get_latency), bytes, 1024, false);
  measure_word("p_lat", reinterpret_cast<const void*>(&p_latency), 1);
  measure_counter("atomic_fetch_add", reinterpret_cast<const void*>(&fetch_add));
  measure_counter("atomic_inc", reinterpret_cast<const void*>(&inc));
}

const registration announced(30, &rows);

}  // namespace

}  // namespace side_by_side
