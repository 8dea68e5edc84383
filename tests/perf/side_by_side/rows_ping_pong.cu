// Round trips between PE 0 and PE 1: each PE waits for the signal of the other PE and answers with a signal.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

namespace side_by_side {

namespace {

/// PE 0 begins. `tell(now, value)` sends the answer, `wait(now, value)` waits for the answer of the other PE. Each
/// round uses a different signal.
template <class Tell, class Wait>
__device__ void ping_pong(const arguments& a, Tell tell, Wait wait) {
  if (a.me > 1) return;
  const bool begins = a.me == 0;
  arguments now = a;
  repeat(a, [&](int i) {
    const auto value = static_cast<std::uint64_t>(i) + 1;
    now.signal = a.signal + place(i);
    now.signal_there = a.signal_there + place(i);
    if (begins) tell(now, value);
    wait(now, value);
    if (!begins) tell(now, value);
  });
}

__global__ void signal_pp(arguments a) {
  ping_pong(
      a, [](const arguments& now, std::uint64_t value) { ops::signal(now, value); },
      [](const arguments& now, std::uint64_t value) { ops::wait(now, value); });
}

/// Each thread puts one word, and then one thread signals.
__global__ void __launch_bounds__(512) p_pp(arguments a) {
  ping_pong(
      a,
      [](const arguments& now, std::uint64_t value) {
        if (threadIdx.x < now.words) ops::p(now, threadIdx.x, now.source[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) ops::fence_and_signal(now, value);
      },
      [](const arguments& now, std::uint64_t value) {
        if (threadIdx.x == 0) ops::wait(now, value);
        __syncthreads();
      });
}

__global__ void put_signal_thread_pp(arguments a) {
  ping_pong(
      a, [](const arguments& now, std::uint64_t value) { ops::put_signal(now, now.words, value); },
      [](const arguments& now, std::uint64_t value) { ops::wait(now, value); });
}

__global__ void __launch_bounds__(1024) put_signal_block_pp(arguments a) {
  ping_pong(
      a, [](const arguments& now, std::uint64_t value) { ops::put_signal_block(now, now.words, value); },
      [](const arguments& now, std::uint64_t value) {
        if (threadIdx.x == 0) ops::wait(now, value);
        __syncthreads();
      });
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  const auto measure = [&](const char* name, const void* function, std::size_t bytes, int threads) {
    kernel what{function, 1, threads, bytes / 8, bytes / 8, {expected::of_pe, pes.seed(), pes.peer()}};
    if (pes.me() > 1) what.words_to_check = 0;  // no PE writes to PEs 2 and higher
    pes.measure(to, {name, bytes, 1, threads, "us"}, what);
  };
  measure("signal_pp", reinterpret_cast<const void*>(&signal_pp), 0, 1);
  for (const std::size_t bytes : {8, 4096}) measure("p_pp", reinterpret_cast<const void*>(&p_pp), bytes, 512);
  for (const std::size_t bytes : {8, 1024, 65536})
    measure("put_signal_pp", reinterpret_cast<const void*>(&put_signal_thread_pp), bytes, 1);
  for (const std::size_t bytes : {8, 1024, 65536})
    measure("put_signal_pp", reinterpret_cast<const void*>(&put_signal_block_pp), bytes, 1024);
}

const registration announced(20, &rows);

}  // namespace

}  // namespace side_by_side
