/// @file
/// Asynchronous bulk copies by the GPU's copy unit (TMA). sm_90 and newer; nothing of it exists for other targets.
///
/// The unit accesses memory through the *async proxy*: fence_proxy_async() makes earlier stores of threads visible
/// there. The other direction needs no fence: whoever has seen a copy's completion sees its data (PTX ISA, "Async
/// proxy").
#pragma once

#include "pgas/detail/compiler.hpp"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PGAS_HAS_BULK_COPIES 1

namespace pgas::detail {

/// Operands of instructions on the .shared and the .global window, for pointers that only the program knows to point
/// there. Not by __cvta_generic_to_*(): nvcc makes broken addresses of it where a pointer turns out to be another one
/// on a path that is never taken.
[[nodiscard]] PGAS_FN std::uint32_t shared_address(const void* p) {
  std::uint64_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return static_cast<std::uint32_t>(address);
}
[[nodiscard]] PGAS_FN std::uint64_t global_address(const void* p) {
  std::uint64_t address;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(p));
  return address;
}

/// Makes earlier accesses of threads visible to bulk copies that the caller starts.
PGAS_FN void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

/// A word in shared memory that counts one arrival and the bytes that it announces.
PGAS_FN void mbarrier_init(std::uint32_t barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
/// The word is ordinary memory again.
PGAS_FN void mbarrier_end(std::uint32_t barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Arrives, and announces `bytes` bytes.
PGAS_FN void mbarrier_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Whether the phase of this parity is complete: the expected bytes have arrived. Waits for it for some time, a
/// millisecond at most.
[[nodiscard]] PGAS_FN bool mbarrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t complete = 0;
  asm volatile(
      "{ .reg .pred p;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 1000000;\n"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(barrier), "r"(parity)
      : "memory");
  return complete != 0;
}

/// Starts a copy of `bytes` bytes from global to shared memory, both at multiples of 16, as is their number. `barrier`
/// counts them as they arrive.
PGAS_FN void bulk_load(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(global_address(from)), "r"(bytes), "r"(barrier)
               : "memory");
}
/// Starts one from shared to global memory, as a group of its own.
PGAS_FN void bulk_store(void* to, std::uint32_t from, std::uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;" ::"l"(global_address(to)),
      "r"(from), "r"(bytes)
      : "memory");
}
/// Waits until all but the last `Pending` stores of this thread have read their source.
template <int Pending>
PGAS_FN void bulk_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all stores of this thread have been made, and are seen by it.
PGAS_FN void bulk_stores_made() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

}  // namespace pgas::detail

#endif
