/// @file
/// The differences between the compilers of these headers: g++ and clang++ compile host code and the CPU heap, nvcc
/// compiles host and device code, and NVRTC compiles device code only and has no standard library. This header also
/// hides the differences between C++20 and C++17. C++17 is sufficient for device code.
#pragma once

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
/// Under NVRTC, `std::` inside pgas means libcu++, so each signature is the same for all compilers.
namespace pgas {
namespace std = ::cuda::std;
}
#else
#include <cstddef>
#include <cstdint>
#include <type_traits>
#endif

/// PGAS_FN marks a device operation: GPU code under nvcc, ordinary inline code under g++. PGAS_HD marks arithmetic for
/// host and device. PGAS_OUTLINE marks device code that stays out of line, so that it does not cost the caller
/// registers; PGAS_COLD marks out-of-line code that is rarely executed; PGAS_OUTLINE_IN_UNIT marks long code with many
/// callers.
#if defined(__CUDACC__)
#if !defined(PGAS_INLINED)  // tests that only compile the headers define PGAS_INLINED as `inline`, to compile faster
#define PGAS_INLINED __forceinline__
#endif
#define PGAS_FN __device__ PGAS_INLINED
#define PGAS_HD __host__ __device__ PGAS_INLINED
// With -rdc=true the compiler does not know the callers of an out-of-line function. The function can then use more
// registers than a thread in a block of 1024 threads can have. With -rdc=true, functions marked PGAS_OUTLINE are
// therefore inlined, except code that would make compilation slow (PGAS_OUTLINE_IN_UNIT). Code that is not inlined has
// internal linkage, so the compiler compiles it a second time for kernels with a register limit.
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

/// PGAS_UNROLL before a loop of a few iterations unrolls the loop, so that arrays that the loop indexes stay in
/// registers. PGAS_ROLLED before a loop prevents unrolling where it has no benefit.
// Sanitizers instrument each unrolled iteration, so unrolled loops compile slowly.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PGAS_UNROLL
#define PGAS_ROLLED
#elif defined(__NVCC__) && !defined(__CUDA_ARCH__)  // the host's compiler would warn of this pragma
#define PGAS_UNROLL
#define PGAS_ROLLED
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PGAS_UNROLL _Pragma("GCC unroll 16")
#define PGAS_ROLLED _Pragma("GCC unroll 1")
#else
#define PGAS_UNROLL _Pragma("unroll")
#define PGAS_ROLLED _Pragma("unroll 1")
#endif

/// PGAS_API marks the symbols that the shared library exports; all other symbols are hidden.
#if defined(__CUDACC_RTC__)
#define PGAS_API
#else
#define PGAS_API [[gnu::visibility("default")]]
#endif

/// PGAS_IS(rma_type) T in a template parameter list: a T that satisfies the concept or, in a language without concepts,
/// any T.
#if __cpp_concepts >= 201907L
#define PGAS_IS(concept_name) concept_name
#else
#define PGAS_IS(concept_name) class
#endif

/// PGAS_UNLIKELY after a condition: [[unlikely]], which clang++ reports as an extension in C++17.
#if defined(__clang__) && __cplusplus < 202002L
#define PGAS_UNLIKELY
#else
#define PGAS_UNLIKELY [[unlikely]]
#endif

namespace pgas::detail {

/// An object of type T, for unevaluated expressions (std::declval).
template <class T>
const T& some();

template <template <class...> class Expression, class, class... Types>
struct is_valid : std::false_type {};
template <template <class...> class Expression, class... Types>
struct is_valid<Expression, std::void_t<Expression<Types...>>, Types...> : std::true_type {};
/// Whether the type Expression<Types...> exists: a `requires` expression in C++17.
template <template <class...> class Expression, class... Types>
inline constexpr bool valid = is_valid<Expression, void, Types...>::value;

/// std::type_identity_t: the compiler does not deduce T from a parameter of this type.
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

}  // namespace pgas::detail
