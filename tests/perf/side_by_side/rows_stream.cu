// Operations that the host calls: collectives and puts enqueued on a stream, and blocking puts.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <chrono>

#include "bench.hpp"
#include "timing.hpp"

namespace side_by_side {

namespace {

/// Measures a collective on a stream that writes `words` words to the destination.
template <class Call>
void measure_collective(bench& pes, report& to, const char* name, std::size_t bytes, std::size_t words, expected as,
                        Call call) {
  as.seed = pes.seed();
  as.pes = pes.n();
  work how;
  how.prepare = [&] { pes.prepare(words * 8); };
  how.run = [&](int iterations) { return on_stream(pes.stream(), iterations, call); };
  how.wrong = [&](int) { return words == 0 ? 0 : wrong_words(pes.dest(), words, as); };
  to.measure({name, bytes, 0, 0, "us", bytes <= 1 << 20 ? 100 : 10}, how);
}

void collectives(bench& pes, report& to) {
  const auto n = static_cast<std::size_t>(pes.n());
  const cudaStream_t stream = pes.stream();
  std::uint64_t* const dest = pes.dest();
  std::uint64_t* const source = pes.source();
  for (const std::size_t bytes : allreduce_sizes) {
    measure_collective(pes, to, "stream_allreduce", bytes, bytes / 8, {expected::summed}, [&] {
      nvshmemx_int32_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, reinterpret_cast<std::int32_t*>(dest),
                                          reinterpret_cast<std::int32_t*>(source), bytes / 4, stream);
    });
  }
  for (const std::size_t bytes : alltoall_sizes) {
    const std::size_t each = bytes / 8 / n;
    measure_collective(pes, to, "stream_alltoall", bytes, each * n, {expected::exchanged, 0, pes.me(), 1, each},
                       [&] { nvshmemx_uint64_alltoall_on_stream(NVSHMEM_TEAM_WORLD, dest, source, each, stream); });
  }
  for (const std::size_t bytes : {1 << 10, 512 << 10, 32 << 20, 128 << 20}) {
    const std::size_t each = bytes / 8 / n;
    measure_collective(pes, to, "stream_fcollect", bytes, each * n, {expected::gathered, 0, 0, 1, each},
                       [&] { nvshmemx_uint64_fcollect_on_stream(NVSHMEM_TEAM_WORLD, dest, source, each, stream); });
  }
  measure_collective(pes, to, "stream_barrier_all", 0, 0, {}, [&] { nvshmemx_barrier_all_on_stream(stream); });
}

/// Measures puts of PE 0 to PE 1: the time of small puts, and the bandwidth of large puts.
void measure_put(bench& pes, report& to, const char* name, std::size_t bytes,
                 const std::function<double(int iterations)>& run) {
  work how;
  how.prepare = [&] { pes.prepare(bytes); };
  how.run = [&](int iterations) { return pes.me() == 0 ? run(iterations) : 0; };
  how.wrong = [&](int) -> std::uint64_t {
    return pes.me() == 1 ? wrong_words(pes.dest(), bytes / 8, {expected::of_pe, pes.seed(), 0}) : 0;
  };
  to.measure({name, bytes, 0, 0, bytes < 64 << 10 ? "us" : "GB/s", bytes <= 1 << 20 ? 100 : 10}, how);
}

void puts(bench& pes, report& to) {
  std::uint64_t* const dest = pes.dest();
  const std::uint64_t* const source = pes.source();
  const std::size_t sizes[] = {8, 1 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20};
  for (const std::size_t bytes : sizes) {
    measure_put(pes, to, "stream_put", bytes, [&](int iterations) {
      return on_stream(pes.stream(), iterations,
                       [&] { nvshmemx_putmem_on_stream(dest, source, bytes, 1, pes.stream()); });
    });
  }
  for (const std::size_t bytes : sizes) {
    measure_put(pes, to, "host_put", bytes, [&](int iterations) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < iterations; ++i) {
        nvshmem_putmem(dest, source, bytes, 1);
        nvshmem_quiet();
      }
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
  }
}

void rows(bench& pes, report& to) {
  collectives(pes, to);
  if (pes.n() > 1) puts(pes, to);
}

const registration announced(70, &rows);

}  // namespace

}  // namespace side_by_side
