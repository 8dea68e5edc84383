/// @file
/// The memory operations on which all other operations are built. Each function contains its PTX and, for g++, the
/// equivalent C++ operation. Only this file and its neighbours `ptx_*.hpp` contain inline assembly.
///
/// Naming: `relaxed` and `release` are strong accesses at system scope, to symmetric memory or to host-mapped memory
/// (the .global window). `ptx_copy.hpp` has the memory accesses of copies.
#pragma once

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/isa/ptx_warp.hpp"
#include "pgas/detail/tsan.hpp"

#if !defined(__CUDACC__)
#include <sched.h>
#include <time.h>
#endif

namespace pgas::detail {

/// Sixteen bytes in registers.
struct alignas(16) vec16 {
  std::uint32_t w[4];
};

/// The unsigned integer of `Bytes` bytes.
template <std::size_t Bytes>
struct word;
template <>
struct word<1> {
  using type = std::uint8_t;
};
template <>
struct word<2> {
  using type = std::uint16_t;
};
template <>
struct word<4> {
  using type = std::uint32_t;
};
template <>
struct word<8> {
  using type = std::uint64_t;
};
template <class T>
using word_of = typename word<sizeof(T)>::type;

/// memcpy, by the name that each compiler provides without a header.
PGAS_FN void copy_bytes(void* to, const void* from, std::size_t bytes) {
#if defined(__CUDACC__)
  memcpy(to, from, bytes);
#else
  __builtin_memcpy(to, from, bytes);
#endif
}

/// std::bit_cast for device code, and for CUDA's packed 16-bit types, which are not formally trivially copyable.
template <class To, class From>
[[nodiscard]] PGAS_HD constexpr To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
#if defined(__CUDACC__)
  if constexpr (!std::is_trivially_copyable_v<To> || !std::is_trivially_copyable_v<From>) {
    To to;
    memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(To));
    return to;
  } else {
    return __builtin_bit_cast(To, from);
  }
#else
  return __builtin_bit_cast(To, from);
#endif
}

#if defined(__CUDACC__)
/// Converts a pointer to the operand of an instruction on the .global window.
[[nodiscard]] PGAS_FN std::size_t global(const volatile void* p) {
  return __cvta_generic_to_global(const_cast<const void*>(p));
}
#else
/// The unsigned integer of `Bytes` bytes, with permission to alias memory of another type.
template <std::size_t Bytes>
struct aliasing_word;
template <>
struct aliasing_word<1> {
  using type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct aliasing_word<2> {
  using type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct aliasing_word<4> {
  using type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct aliasing_word<8> {
  using type [[gnu::may_alias]] = std::uint64_t;
};
template <class T>
[[nodiscard]] inline auto aliased(T* p) {
  return reinterpret_cast<typename aliasing_word<sizeof(T)>::type*>(p);
}
#endif

/// A strong load of 1, 2, 4 or 8 bytes, for polls and `g`. The load bypasses the L1 cache.
template <class T>
[[nodiscard]] PGAS_FN T load_relaxed(const T* p) {
  word_of<T> v;
#if defined(__CUDACC__)
  if constexpr (sizeof(T) == 1) {
    std::uint16_t wide;
    asm volatile("ld.relaxed.sys.global.u8 %0, [%1];" : "=h"(wide) : "l"(global(p)) : "memory");
    v = static_cast<std::uint8_t>(wide);
  } else if constexpr (sizeof(T) == 2) {
    asm volatile("ld.relaxed.sys.global.u16 %0, [%1];" : "=h"(v) : "l"(global(p)) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(global(p)) : "memory");
  } else {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(global(p)) : "memory");
  }
#else
  tsan_note_load(p);
  v = __atomic_load_n(aliased(const_cast<T*>(p)), __ATOMIC_RELAXED);
#endif
  return bits_as<T>(v);
}

/// A strong store of 1, 2, 4 or 8 bytes.
template <class T>
PGAS_FN void store_relaxed(T* p, T value) {
  const auto v = bits_as<word_of<T>>(value);
#if defined(__CUDACC__)
  if constexpr (sizeof(T) == 1) {
    asm volatile("st.relaxed.sys.global.u8 [%0], %1;" ::"l"(global(p)), "h"(std::uint16_t{v}) : "memory");
  } else if constexpr (sizeof(T) == 2) {
    asm volatile("st.relaxed.sys.global.u16 [%0], %1;" ::"l"(global(p)), "h"(v) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
  } else {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
  }
#else
  if (tsan_released()) {
    __atomic_store_n(aliased(p), v, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(aliased(p), v, __ATOMIC_RELAXED);
  }
#endif
}

/// Store that makes all earlier accesses of this thread visible to every thread that acquires the value. 4 or 8 bytes.
template <class T>
PGAS_FN void store_release(T* p, T value) {
  const auto v = bits_as<word_of<T>>(value);
#if defined(__CUDACC__)
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
  } else {
    static_assert(sizeof(T) == 8);
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
  }
#else
  __atomic_store_n(aliased(p), v, __ATOMIC_RELEASE);
#endif
}

/// Two strong 8-byte loads in one instruction; `p` is aligned to 16 bytes. Each half is single-copy atomic, but the two
/// halves can be read at different times: in PTX a vector access counts as one access per element.
[[nodiscard]] PGAS_FN vec16 load_relaxed(const vec16* p) {
  vec16 v;
#if defined(__CUDACC__)
  std::uint64_t low;
  std::uint64_t high;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1}, [%2];" : "=l"(low), "=l"(high) : "l"(global(p)) : "memory");
  v = {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(high),
        static_cast<std::uint32_t>(high >> 32)}};
#else
  const std::uint64_t* const from = reinterpret_cast<const std::uint64_t*>(p);
  const std::uint64_t both[2] = {load_relaxed(from), load_relaxed(from + 1)};
  __builtin_memcpy(&v, both, sizeof v);
#endif
  return v;
}

/// The store that matches load_relaxed() of a vec16.
PGAS_FN void store_relaxed(vec16* p, vec16 v) {
#if defined(__CUDACC__)
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1,%2};" ::"l"(global(p)),
               "l"(std::uint64_t{v.w[1]} << 32 | v.w[0]), "l"(std::uint64_t{v.w[3]} << 32 | v.w[2])
               : "memory");
#else
  std::uint64_t both[2];
  __builtin_memcpy(both, &v, sizeof v);
  std::uint64_t* const to = reinterpret_cast<std::uint64_t*>(p);
  store_relaxed(to, both[0]);
  store_relaxed(to + 1, both[1]);
#endif
}

/// Makes all earlier accesses of this thread visible to every thread that acquires a later relaxed store of this
/// thread.
PGAS_FN void fence_release() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900 && (__CUDACC_VER_MAJOR__ >= 13 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8))
  asm volatile("fence.release.sys;" ::: "memory");
#else
  asm volatile("fence.acq_rel.sys;" ::: "memory");  // one-sided fences need PTX 8.6 and sm_90
#endif
#elif defined(PGAS_TSAN)
  tsan_fence_release();
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/// Turns an earlier relaxed load of this thread into an acquire: accesses that the writer of the value had released are
/// visible afterwards. On sm_90 the fence only invalidates L1 and needs no MEMBAR.
PGAS_FN void fence_acquire() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900 && (__CUDACC_VER_MAJOR__ >= 13 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8))
  asm volatile("fence.acquire.sys;" ::: "memory");
#else
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
#elif defined(PGAS_TSAN)
  tsan_fence_acquire();
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/// The number of threads that execute the fence of a group, from rank 0 on. On a GPU, the fence of the first warp also
/// orders the stores of the block's other warps (MEMORY_MODEL.md). In C++, a release fence orders only stores of its
/// own thread, so each thread executes the fence.
#if defined(__CUDACC__)
inline constexpr int threads_that_fence = warp_size;
#else
inline constexpr int threads_that_fence = 0x7fffffff;
#endif

/// A sequentially consistent fence: a release and an acquire. All sequentially consistent fences have one total order.
/// No later load overtakes an earlier store.
PGAS_FN void fence_sc() {
#if defined(__CUDACC__)
  asm volatile("fence.sc.sys;" ::: "memory");
#elif defined(PGAS_TSAN)
  tsan_fence_sc();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// The time of a monotonic clock in nanoseconds. The origin of the clock differs between devices.
[[nodiscard]] PGAS_FN std::uint64_t clock_ns() {
#if defined(__CUDACC__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

#if defined(__CUDACC__)
/// The number of the calling thread's launch: concurrent grids have different numbers.
[[nodiscard]] PGAS_FN std::uint32_t launch_number() {
  std::uint64_t number;
  asm("mov.u64 %0, %%gridid;" : "=l"(number));
  return static_cast<std::uint32_t>(number);
}
#endif

/// The number of polls of a wait between two checks of the abort word and the clock. The abort word is in host memory.
/// A GPU reads host memory slowly, and serves one multiprocessor after another. If all waiting blocks of a grid check
/// at the same time, they delay each other for longer than a large copy takes. A poll takes about 0.15 us on an H200,
/// so the first check comes after 0.6 ms. Short waits therefore end without a check. A CPU yields at every check.
///
/// A wait may first poll inline and then continue out of line. Only the out-of-line part checks the abort word and the
/// clock. On a GPU, a wait makes as many polls before the first check as between two checks. On a CPU, a wait makes
/// fewer polls before the first check, because each poll delays other threads.
#if defined(__CUDACC__)
inline constexpr std::uint32_t polls_between_checks = 4096;
inline constexpr std::uint32_t polls_in_line = 4096;
#else
inline constexpr std::uint32_t polls_between_checks = 256;
inline constexpr std::uint32_t polls_in_line = 1;
#endif

/// Lets other threads run while this thread waits. Has no effect on GPUs.
PGAS_FN void yield_waiting() {
#if !defined(__CUDACC__)
  sched_yield();
#endif
}

#if !defined(__CUDACC__)
/// The exception that ends a thread of a kernel on the CPU. The exception has no message, because the reason is in the
/// failure_record of the PE's control block. Only launchers catch the exception.
struct thread_ended {};
#endif

/// Ends the calling thread as if the kernel had returned. The function does not use a hardware trap: a trap would also
/// end the CUDA context, and the memory of a dead PE could not be recovered. Also, if several processes on one GPU trap
/// at the same time, one of these processes hangs in the driver (observed with driver 580).
[[noreturn]] PGAS_FN void end_thread() {
#if defined(__CUDACC__)
  asm volatile("exit;");
  __builtin_unreachable();
#else
  throw thread_ended{};
#endif
}

}  // namespace pgas::detail
