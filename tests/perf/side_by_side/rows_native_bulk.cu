// Round trips of puts with a signal. One thread puts data through the shared memory of its block, with pgas'
// bulk_copier. NVSHMEM has no such operation.
#include "bench.hpp"
#include "kernel.cuh"
#include "native.cuh"
#include "operations.cuh"

namespace side_by_side {

namespace {

__global__ void put_signal_bulk_pp(arguments a) {
  __shared__ alignas(128) std::byte room[std::size_t{47} << 10];
  if (a.me > 1) return;
  const auto& ctx = context();
  pgas::bulk_copier by(room, sizeof room);
  repeat(a, [&](int i) {
    const auto value = static_cast<std::uint64_t>(i) + 1;
    std::uint64_t* const signal = a.signal + place(i);
    if (a.me == 1) pgas::wait_until(ctx, signal, pgas::cmp::ge, value);
    pgas::put_signal(ctx, by, a.dest, a.source, a.words, signal, value, pgas::signal_op::set, a.peer);
    if (a.me == 0) pgas::wait_until(ctx, signal, pgas::cmp::ge, value);
  });
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{65536}}) {
    kernel what{reinterpret_cast<const void*>(&put_signal_bulk_pp), 1, 1, bytes / 8, bytes / 8,
                {expected::of_pe, pes.seed(), pes.peer()}};
    if (pes.me() > 1) what.words_to_check = 0;  // no PE writes to PEs 2 and higher
    pes.measure(to, {"put_signal_bulk_pp", bytes, 1, 1, "us"}, what);
  }
}

const registration announced(22, &rows);

}  // namespace

}  // namespace side_by_side
