/// @file
/// What differs between the compilers that read these headers: g++ and clang++ (host code, CPU heap), nvcc (both sides)
/// and NVRTC (device side only, no standard library of its own); and between C++20 and C++17, which is all that device
/// code needs.
#pragma once

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
/// Inside pgas, `std::` means libcu++ under NVRTC, so that every signature is spelled once.
namespace pgas {
namespace std = ::cuda::std;
}
#else
#include <cstddef>
#include <cstdint>
#include <type_traits>
#endif

/// PGAS_FN marks a device operation: GPU code under nvcc, ordinary inline code under g++. PGAS_HD marks arithmetic for
/// both sides. PGAS_OUTLINE marks device code that stays out of line, so that it does not cost the caller registers;
/// PGAS_COLD marks such code that is rarely executed; PGAS_OUTLINE_IN_UNIT marks long code with many callers.
#if defined(__CUDACC__)
#if !defined(PGAS_INLINED)  // `inline` where nobody runs what is compiled: that takes half the time
#define PGAS_INLINED __forceinline__
#endif
#define PGAS_FN __device__ PGAS_INLINED
#define PGAS_HD __host__ __device__ PGAS_INLINED
// With -rdc=true a function out of line takes registers as if it could be called from anywhere, more than a kernel with
// blocks of 1024 threads has: there they are inlined, except code that would make compiling slow. That gets internal
// linkage, and so is compiled once more for kernels that have a limit.
#if defined(__CUDACC_RDC__)
#define PGAS_OUTLINE __device__ PGAS_INLINED
#define PGAS_OUTLINE_IN_UNIT static __device__ __noinline__
#else
#define PGAS_OUTLINE __device__ __noinline__ inline
#define PGAS_OUTLINE_IN_UNIT PGAS_OUTLINE
#endif
#define PGAS_COLD PGAS_OUTLINE
#else
#define PGAS_FN inline
#define PGAS_HD inline
#define PGAS_OUTLINE [[gnu::noinline]] inline
#define PGAS_OUTLINE_IN_UNIT PGAS_OUTLINE
#define PGAS_COLD [[gnu::noinline, gnu::cold]] inline
#endif

/// PGAS_UNROLL before a loop of a few iterations: its body is repeated, so that arrays indexed in it stay in registers.
/// PGAS_ROLLED before a loop whose repetition gains nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // each repetition is instrumented: slow to compile
#define PGAS_UNROLL
#define PGAS_ROLLED
#elif defined(__NVCC__) && !defined(__CUDA_ARCH__)  // the host's compiler sees functions of both sides, and warns
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

/// PGAS_IS(rma_type) T in a list of template parameters: a T that the concept holds for, or where the language has no
/// concepts any T.
#if __cpp_concepts >= 201907L
#define PGAS_IS(concept_name) concept_name
#else
#define PGAS_IS(concept_name) class
#endif

/// PGAS_UNLIKELY behind a condition: [[unlikely]], which clang++ would call an extension in C++17.
#if defined(__clang__) && __cplusplus < 202002L
#define PGAS_UNLIKELY
#else
#define PGAS_UNLIKELY [[unlikely]]
#endif

namespace pgas::detail {

/// An object of type T, in expressions that are never evaluated.
template <class T>
const T& some();

template <template <class...> class Expression, class, class... Types>
struct is_valid : std::false_type {};
template <template <class...> class Expression, class... Types>
struct is_valid<Expression, std::void_t<Expression<Types...>>, Types...> : std::true_type {};
/// Whether the type Expression<Types...> exists: a `requires` expression in C++17.
template <template <class...> class Expression, class... Types>
inline constexpr bool valid = is_valid<Expression, void, Types...>::value;

/// std::type_identity_t: a parameter of this type takes no part in finding out T.
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

}  // namespace pgas::detail
