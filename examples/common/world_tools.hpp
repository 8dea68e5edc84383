/// @file
/// Collective helpers of the hosts of all PEs: agreed sizes, sums for checks, times, and the memory that a PE may
/// allocate. All except memory_of_pe() are collective.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "pgas/pgas.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace examples {

/// The values of all PEs, on all PEs.
template <class T>
[[nodiscard]] std::vector<T> gathered(pgas::world& world, T mine) {
  const auto n = static_cast<std::size_t>(world.n_pes());
  const auto room = world.allocate<T>(n);
  for (int pe = 0; pe < world.n_pes(); ++pe) pgas::p(world, room.data() + world.my_pe(), mine, pe);
  world.barrier_all();
  std::vector<T> all(n);
  pgas::get(world, all.data(), room.data(), n, world.my_pe());
  return all;
}

/// The minimum over all PEs.
template <class T>
[[nodiscard]] T least(pgas::world& world, T mine) {
  const std::vector<T> all = gathered(world, mine);
  return *std::min_element(all.begin(), all.end());
}

/// The sum over all PEs.
template <class T>
[[nodiscard]] T sum(pgas::world& world, T mine) {
  T total{};
  for (const T each : gathered(world, mine)) total += each;
  return total;
}

/// Bytes that this PE may allocate: on a GPU the limit of its heap; on the host a quarter of the machine's memory,
/// divided by the number of PEs, as if all PEs ran on this host.
[[nodiscard]] inline std::size_t memory_of_pe(const pgas::world& world) {
  const std::size_t limit = world.usage().limit;
  if (world.heap() != pgas::heap_kind::host) return limit;
  const auto quarter =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min(limit, quarter / static_cast<std::size_t>(world.n_pes()));
}

/// Seconds that all PEs take for `rounds` calls of round(i), which enqueue work on the world's stream. `warm_up` calls
/// that are not timed come first.
template <class Round>
[[nodiscard]] double seconds_of(pgas::world& world, int warm_up, int rounds, const Round& round) {
  for (int i = 0; i < warm_up; ++i) round(i);
  world.synchronize();
  world.barrier_all();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) round(i);
  world.synchronize();
  world.barrier_all();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures calls of round(i) and returns the mean seconds of one call. The number of calls is `rounds`, rounded up to
/// a multiple of `together`: the function replays a CUDA graph of `together` calls. If graphs are not available, the
/// function returns 0 and makes no call.
template <class Round>
[[nodiscard]] double seconds_in_graph([[maybe_unused]] pgas::world& world, [[maybe_unused]] int rounds,
                                      [[maybe_unused]] int together, [[maybe_unused]] const Round& round) {
#if defined(__CUDACC__)
  const auto check = [](cudaError_t result) {
    if (result != cudaSuccess) throw pgas::error(pgas::code::launch_failed, cudaGetErrorString(result));
  };
  const auto stream = static_cast<cudaStream_t>(world.stream().native());
  cudaGraph_t graph{};
  cudaGraphExec_t repeatable{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < together; ++i) round(i);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&repeatable, graph, 0));
  const int repeats = (rounds + together - 1) / together;
  const double seconds =
      seconds_of(world, 1, repeats, [&](int) { check(cudaGraphLaunch(repeatable, stream)); }) / (repeats * together);
  check(cudaGraphExecDestroy(repeatable));
  check(cudaGraphDestroy(graph));
  return seconds;
#else
  return 0;
#endif
}

}  // namespace examples
