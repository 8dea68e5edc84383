// The costs of starting: the time and the memory of joining, and the time of further allocations.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <chrono>

#include "bench.hpp"

namespace side_by_side {

namespace {

__global__ void nothing() {}
__global__ void meet_once() { nvshmem_barrier_all(); }

constexpr std::size_t large = std::size_t{1} << 30;

/// Returns the milliseconds in which all PEs allocate 1 GiB. Increments `wrong` if the memory cannot be allocated or
/// another PE cannot write it.
[[maybe_unused]] double allocate_once(bench& pes, std::uint64_t& wrong) {
  pes.barrier();
  const auto start = std::chrono::steady_clock::now();
  auto* const found = static_cast<std::uint64_t*>(nvshmem_malloc(large));
  const double mine = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const double all = pes.largest(mine / 1e3) * 1e3;
  if (pes.total(found == nullptr ? 1 : 0) != 0) {
    ++wrong;
    return all;
  }
  // The previous PE writes the last word of the memory.
  std::uint64_t* const last = found + large / 8 - 1;
  const int from = (pes.me() + pes.n() - 1) % pes.n();
  nvshmem_uint64_p(last, word(pes.seed(), pes.me(), 0), (pes.me() + 1) % pes.n());
  pes.barrier();
  std::uint64_t seen = 0;
  must(cudaMemcpy(&seen, last, sizeof seen, cudaMemcpyDeviceToHost), "checking");
  if (seen != word(pes.seed(), from, 0)) ++wrong;
  pes.barrier();
  nvshmem_free(found);
  return all;
}

[[maybe_unused]] void costs(bench& pes, report& to) {
  using values = std::vector<double>;
  const joined& how = pes.how_joined();
  to.add({"join", 0, 0, 0, "ms"}, [&](std::uint64_t&) {
    // The result is the smallest time of all PEs, because the PE that arrived last has not waited for another PE.
    constexpr double long_time = 1e3;
    return values{(long_time - pes.largest(long_time - how.milliseconds / 1e3)) * 1e3};
  });
  to.add({"memory_joined", 0, 0, 0, "MiB"}, [&](std::uint64_t&) { return values{pes.largest(how.mebibytes)}; });
  to.add({"memory_first", 0, 0, 0, "MiB"}, [&](std::uint64_t&) { return values{pes.largest(how.with_first)}; });
  to.add({"malloc_first", large, 0, 0, "ms"}, [&](std::uint64_t& wrong) { return values{allocate_once(pes, wrong)}; });
  to.add({"malloc_again", large, 0, 0, "ms"}, [&](std::uint64_t& wrong) {
    values all;
    for (int i = 0; i < to.asked().repetitions; ++i) all.push_back(allocate_once(pes, wrong));
    return all;
  });
}

void rows(bench& pes, report& to) {
#if !defined(RAW)  // hand-written kernels have no such operation
  costs(pes, to);
#else
  static_cast<void>(to);
#endif
  pes.allocate(std::size_t{128} << 20);
}

const registration announced(0, &rows);

}  // namespace

void first_kernel(cudaStream_t stream) {
  void* none[] = {nullptr};
  if (nvshmemx_collective_launch(reinterpret_cast<const void*>(&meet_once), dim3(1), dim3(1), none, 0, stream) != 0)
    must(cudaErrorLaunchFailure, "the first kernel");
  must(cudaStreamSynchronize(stream), "the first kernel");
}

void load_code() {
  nothing<<<1, 1>>>();
  must(cudaDeviceSynchronize(), "an empty kernel");
}

}  // namespace side_by_side
