/// @file
/// Words in shared memory that count arrivals and bytes: the mbarrier of sm_90 and newer, which the GPU's copy unit
/// updates. On other targets a 64-bit word implements the same semantics. The fields of the word are the parity of the
/// phase, the number of arrivals that each phase needs (15 bits), the number of missing arrivals (16 bits), and the
/// number of missing bytes (32 bits, modulo 2^32). Used by `device/mbarrier.hpp` and the copies.
#pragma once

#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/detail/isa/ptx_copy.hpp"

namespace pgas::detail {

#if defined(PGAS_HAS_BULK_COPIES)

/// The operand by which an instruction names a word: the word's address in the shared window.
using mbarrier_word = std::uint32_t;
[[nodiscard]] PGAS_FN mbarrier_word mbarrier_at(std::uint64_t* word) { return shared_address(word); }

/// Initializes the word for `arrivals` arrivals in each phase.
PGAS_FN void mbarrier_init(mbarrier_word at, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
/// Turns the word into ordinary memory again.
PGAS_FN void mbarrier_end(mbarrier_word at) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at) : "memory");
}
/// Arrives at the mbarrier, and announces that `bytes` bytes will arrive.
PGAS_FN void mbarrier_expect(mbarrier_word at, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
/// Counts bytes that this thread has written, in the same way as the copy unit counts its bytes. The written data is
/// visible to threads that wait, and to instructions that read shared memory through the async proxy.
PGAS_FN void mbarrier_complete(mbarrier_word at, std::uint32_t bytes) {
  fence_proxy_async_shared();
  asm volatile(
      "fence.acq_rel.cta;\n"
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at),
      "r"(bytes)
      : "memory");
}
/// Whether the phase of this parity is complete: all threads and all announced bytes have arrived. Waits up to a
/// millisecond for the phase.
[[nodiscard]] PGAS_FN bool mbarrier_try_wait(mbarrier_word at, std::uint32_t parity) {
  std::uint32_t complete = 0;
  asm volatile(
      "{ .reg .pred p;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 1000000;\n"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(at), "r"(parity)
      : "memory");
  return complete != 0;
}
/// Like mbarrier_try_wait(), but does not wait.
[[nodiscard]] PGAS_FN bool mbarrier_test(mbarrier_word at, std::uint32_t parity) {
  std::uint32_t complete = 0;
  asm volatile(
      "{ .reg .pred p;\n"
      "  mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(at), "r"(parity)
      : "memory");
  return complete != 0;
}
inline constexpr std::uint32_t mbarrier_polls = 128;  ///< polls between clock checks; a poll takes up to 1 ms

#else

using mbarrier_word = std::uint64_t*;
[[nodiscard]] PGAS_FN mbarrier_word mbarrier_at(std::uint64_t* word) { return word; }

/// mbarrier_load() and mbarrier_replace() access the word at the scope of one block.
[[nodiscard]] PGAS_FN std::uint64_t mbarrier_load(mbarrier_word at) {
#if defined(__CUDACC__)
  std::uint64_t v;
  asm volatile("ld.acquire.cta.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
  return v;
#else
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}
[[nodiscard]] PGAS_FN bool mbarrier_replace(mbarrier_word at, std::uint64_t seen, std::uint64_t value) {
#if defined(__CUDACC__)
  std::uint64_t old;
  asm volatile("atom.acq_rel.cta.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(at), "l"(seen), "l"(value) : "memory");
  return old == seen;
#else
  return __atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

PGAS_FN void mbarrier_init(mbarrier_word at, std::uint32_t arrivals) {
  *at = std::uint64_t{arrivals} << 48 | std::uint64_t{arrivals} << 32;
}
PGAS_FN void mbarrier_end(mbarrier_word) {}

/// Decrements the pending arrival count and increments the pending byte count. A phase is complete when both counts are
/// 0.
PGAS_FN void mbarrier_update(mbarrier_word at, std::uint32_t arrivals, std::uint32_t more_bytes) {
  constexpr std::uint64_t parity = std::uint64_t{1} << 63;
  for (;;) {
    const std::uint64_t seen = mbarrier_load(at);
    const std::uint64_t each = seen >> 48 & 0x7fffu;
    const std::uint64_t missing = (seen >> 32 & 0xffffu) - arrivals;
    const std::uint64_t bytes = (seen + more_bytes) & 0xffffffffu;
    const std::uint64_t after = missing == 0 && bytes == 0 ? ((seen & parity) ^ parity) | each << 48 | each << 32
                                                           : (seen & parity) | each << 48 | missing << 32 | bytes;
    if (mbarrier_replace(at, seen, after)) return;
  }
}
PGAS_FN void mbarrier_expect(mbarrier_word at, std::uint32_t bytes) { mbarrier_update(at, 1, bytes); }
PGAS_FN void mbarrier_complete(mbarrier_word at, std::uint32_t bytes) {
  if (bytes != 0) mbarrier_update(at, 0, 0 - bytes);
}
[[nodiscard]] PGAS_FN bool mbarrier_test(mbarrier_word at, std::uint32_t parity) {
  return mbarrier_load(at) >> 63 != parity;
}
[[nodiscard]] PGAS_FN bool mbarrier_try_wait(mbarrier_word at, std::uint32_t parity) {
  return mbarrier_test(at, parity);
}
#if defined(__CUDACC__)
inline constexpr std::uint32_t mbarrier_polls = 4096;
#else
inline constexpr std::uint32_t mbarrier_polls = 256;
#endif

#endif

}  // namespace pgas::detail
