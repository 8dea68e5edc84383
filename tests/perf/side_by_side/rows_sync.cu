// Barriers and syncs of all PEs. A thread, a warp or a block of each PE calls them, one after another.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

namespace side_by_side {

namespace {

constexpr int checked_rounds = 100;
constexpr std::size_t told_at = places * place_words;  // the index of the first of n signals; each PE sets one of the
                                                       // signals

/// Checks that no PE leaves the call before all PEs have arrived, and that a barrier completes their earlier puts. In
/// additional rounds after the timed rounds, every PE sends the number of the round to all other PEs.
template <scope Scope, bool Completes, class Meet>
__device__ void check(const arguments& a, Meet sync) {
  const bool single = threadIdx.x == 0;
  unsigned long long wrong = 0;
  for (int round = 1; round <= checked_rounds; ++round) {
    if (single) {
      for (int pe = 0; pe < a.n; ++pe) ops::tell(a, told_at + a.me, static_cast<std::uint64_t>(round), pe);
      if (!Completes) ops::quiet();
    }
    if (Scope == scope::block) __syncthreads();
    if (Scope == scope::warp) __syncwarp();
    sync();
    if (single) {
      for (int pe = 0; pe < a.n; ++pe) {
        const auto* const told = const_cast<volatile const std::uint64_t*>(a.signal + told_at + pe);
        if (*told != static_cast<std::uint64_t>(round)) ++wrong;
      }
    }
    sync();
  }
  if (single && wrong != 0) *a.wrong = wrong;
}

template <scope Scope>
__global__ void __launch_bounds__(512) barrier_all(arguments a) {
  std::uint64_t epoch = 0;
  repeat(a, [&](int) { ops::barrier_all<Scope>(a, ++epoch); });
  check<Scope, true>(a, [&] { ops::barrier_all<Scope>(a, ++epoch); });
}

template <scope Scope>
__global__ void __launch_bounds__(512) sync_all(arguments a) {
  std::uint64_t epoch = 0;
  repeat(a, [&](int) { ops::sync_all<Scope>(a, ++epoch); });
  check<Scope, false>(a, [&] { ops::sync_all<Scope>(a, ++epoch); });
}

void rows(bench& pes, report& to) {
  const int block = to.asked().collective_threads;
  const auto measure = [&](const char* name, const void* function, int threads) {
    pes.measure(to, {name, 0, 1, threads, "us"}, {function, 1, threads, 0});
  };
  measure("barrier_all", reinterpret_cast<const void*>(&barrier_all<scope::thread>), 1);
  measure("barrier_all", reinterpret_cast<const void*>(&barrier_all<scope::warp>), 32);
  measure("barrier_all", reinterpret_cast<const void*>(&barrier_all<scope::block>), block);
  measure("sync_all", reinterpret_cast<const void*>(&sync_all<scope::thread>), 1);
  measure("sync_all", reinterpret_cast<const void*>(&sync_all<scope::warp>), 32);
  measure("sync_all", reinterpret_cast<const void*>(&sync_all<scope::block>), block);
}

const registration announced(40, &rows);

}  // namespace

}  // namespace side_by_side
