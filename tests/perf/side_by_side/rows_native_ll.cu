// Round trips of values in registers, one word per thread, with pgas' ll_channel and with hand-written code. NVSHMEM
// has no such operation.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

#if !defined(RAW)
#include "native.cuh"
#endif

namespace side_by_side {

namespace {

constexpr int most_threads = 32;  // the memory of the signals has room for the boxes of this number of threads

#if defined(RAW)

/// A hand-written channel. A packet has 8 bytes of data and two copies of the message's number. Messages use two
/// buffers alternately.
struct channel {
  uint4* in;
  uint4* out;
  unsigned number_sent = 0;
  unsigned number_received = 0;

  __device__ explicit channel(const arguments& a)
      : in(reinterpret_cast<uint4*>(a.signal) + threadIdx.x),
        out(reinterpret_cast<uint4*>(a.signal_there) + threadIdx.x) {}

  __device__ void send(const arguments&, std::uint64_t word) {
    const unsigned number = ++number_sent;
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(out + (number & 1) * most_threads),
                 "r"(static_cast<unsigned>(word)), "r"(number), "r"(static_cast<unsigned>(word >> 32))
                 : "memory");
  }
  __device__ std::uint64_t receive(const arguments&) {
    const unsigned number = ++number_received;
    uint4 v;
    do v = ops::load_there(in + (number & 1) * most_threads);
    while (v.y != number || v.w != number);
    return static_cast<std::uint64_t>(v.z) << 32 | v.x;
  }
};

#else

struct channel {
  pgas::ll_channel<std::uint64_t> between;

  __device__ explicit channel(const arguments& a)
      : between(context(), pgas::this_warp(pgas::this_block()), reinterpret_cast<pgas::packet_line*>(a.signal),
                reinterpret_cast<pgas::packet_line*>(a.signal), a.peer) {}

  __device__ void send(const arguments&, std::uint64_t word) { pgas::send(context(), between, word); }
  __device__ std::uint64_t receive(const arguments&) { return pgas::receive(context(), between); }
};

#endif

__global__ void __launch_bounds__(most_threads) ll_pp(arguments a) {
  if (a.me > 1) return;
  channel between(a);
  const std::uint64_t mine = a.source[threadIdx.x];
  std::uint64_t theirs = 0;
  repeat(a, [&](int) {
    if (a.me == 0) between.send(a, mine);
    theirs = between.receive(a);
    if (a.me == 1) between.send(a, mine);
  });
  a.dest[threadIdx.x] = theirs;
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  for (const int threads : {1, most_threads}) {
    const auto words = static_cast<std::size_t>(threads);
    kernel what{reinterpret_cast<const void*>(&ll_pp),    1, threads, words, words,
                {expected::of_pe, pes.seed(), pes.peer()}};
    if (pes.me() > 1) what.words_to_check = 0;  // no PE writes to PEs 2 and higher
    pes.measure(to, {"ll_pp", 8, 1, threads, "us"}, what);
  }
}

const registration announced(23, &rows);

}  // namespace

}  // namespace side_by_side
