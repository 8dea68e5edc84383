/// @file
/// What differs between the compilers that read these headers: g++ and clang++ (host code, CPU heap), nvcc (both sides)
/// and NVRTC (device side only, no standard library of its own).
#pragma once

#if defined(__CUDACC_RTC__)
#include <cuda/std/bit>
#include <cuda/std/concepts>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
/// Inside pgas, `std::` means libcu++ under NVRTC, so that every signature is spelled once.
namespace pgas {
namespace std = ::cuda::std;
}
#else
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#endif

/// PGAS_FN marks a device operation: GPU code under nvcc, ordinary inline code under g++.
/// PGAS_HD marks arithmetic that both sides need. PGAS_OUTLINE marks device code that stays out of line, so that it
/// does not cost the caller registers; PGAS_COLD marks such code that is not expected to run at all.
#if defined(__CUDACC__)
#define PGAS_FN __device__ __forceinline__
#define PGAS_HD __host__ __device__ __forceinline__
#define PGAS_OUTLINE __device__ __noinline__ inline
#define PGAS_COLD __device__ __noinline__ inline
#else
#define PGAS_FN inline
#define PGAS_HD inline
#define PGAS_OUTLINE [[gnu::noinline]] inline
#define PGAS_COLD [[gnu::noinline, gnu::cold]] inline
#endif

/// PGAS_UNROLL before a loop of a few iterations: its body is repeated, so that arrays indexed in it stay in registers.
/// PGAS_ROLLED before a loop whose repetition gains nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // each repetition is instrumented: slow to compile
#define PGAS_UNROLL
#define PGAS_ROLLED
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PGAS_UNROLL _Pragma("GCC unroll 16")
#define PGAS_ROLLED _Pragma("GCC unroll 1")
#else
#define PGAS_UNROLL _Pragma("unroll")
#define PGAS_ROLLED _Pragma("unroll 1")
#endif

/// PGAS_API marks what the shared library exports; everything else stays hidden.
#if defined(__CUDACC_RTC__)
#define PGAS_API
#else
#define PGAS_API [[gnu::visibility("default")]]
#endif
