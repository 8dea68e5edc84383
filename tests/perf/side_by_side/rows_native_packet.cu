// Round trips of small messages whose packets carry a flag beside the data, with pgas' packet_channel and with
// hand-written code. NVSHMEM has no such operation.
#include "bench.hpp"
#include "kernel.cuh"
#include "operations.cuh"

#if !defined(RAW)
#include "native.cuh"
#endif

namespace side_by_side {

namespace {

// The longest message in bytes. The memory of the signals is large enough for the boxes of such messages.
constexpr std::size_t longest = 4096;

#if defined(RAW)

/// A hand-written channel. A packet has 8 bytes of data and two copies of the message's number. Messages use two
/// buffers alternately.
struct channel {
  uint4* in;
  uint4* out;
  unsigned number_sent = 0;
  unsigned number_received = 0;

  __device__ explicit channel(const arguments& a)
      : in(reinterpret_cast<uint4*>(a.signal)), out(reinterpret_cast<uint4*>(a.signal_there)) {}

  __device__ void send(const arguments& a) {
    const unsigned number = ++number_sent;
    uint4* const remote = out + (number & 1) * (longest / 8);
    for (std::size_t i = threadIdx.x; i < a.words; i += blockDim.x) {
      const std::uint64_t word = a.source[i];
      asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(remote + i),
                   "r"(static_cast<unsigned>(word)), "r"(number), "r"(static_cast<unsigned>(word >> 32))
                   : "memory");
    }
  }
  __device__ void receive(const arguments& a) {
    const unsigned number = ++number_received;
    const uint4* const here = in + (number & 1) * (longest / 8);
    for (std::size_t i = threadIdx.x; i < a.words; i += blockDim.x) {
      uint4 v;
      do v = ops::load_there(here + i);
      while (v.y != number || v.w != number);
      a.dest[i] = static_cast<std::uint64_t>(v.z) << 32 | v.x;
    }
    __syncthreads();
  }
};

#else

struct channel {
  pgas::packet_channel between;

  __device__ explicit channel(const arguments& a)
      : between(context(), pgas::this_block(), reinterpret_cast<pgas::packet_line*>(a.signal),
                reinterpret_cast<pgas::packet_line*>(a.signal), longest, a.peer) {}

  __device__ void send(const arguments& a) { pgas::send(context(), pgas::this_block(), between, a.source, a.words); }
  __device__ void receive(const arguments& a) {
    pgas::receive(context(), pgas::this_block(), between, a.dest, a.words);
  }
};

#endif

__global__ void __launch_bounds__(512) packet_pp(arguments a) {
  if (a.me > 1) return;
  channel between(a);
  repeat(a, [&](int) {
    if (a.me == 0) between.send(a);
    between.receive(a);
    if (a.me == 1) between.send(a);
  });
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, longest}) {
    kernel what{reinterpret_cast<const void*>(&packet_pp), 1, 512, bytes / 8, bytes / 8,
                {expected::of_pe, pes.seed(), pes.peer()}};
    if (pes.me() > 1) what.words_to_check = 0;  // no PE writes to PEs 2 and higher
    pes.measure(to, {"packet_pp", bytes, 1, 512, "us"}, what);
  }
}

const registration announced(21, &rows);

}  // namespace

}  // namespace side_by_side
