/// @file
/// The ABI between the typed functions in these headers and libnvshmem_host: one untyped function (entry) for each kind
/// of operation, with type and operation as arguments. For host code, C++17. device_state.h has the registration of
/// device state. At the end of this file are the conversions of typed arguments.
///
/// *Errors* entries that return an nvshmemx_status, a pointer or a number in a team report a failure by this result.
/// All other entries log the failure with the name of the function that the program called, and end the processes of
/// all PEs.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "pgas/compat/nvshmem/types.h"

namespace pgas::compat {

/// The type of an element. Waits take integers of 2, 4 and 8 bytes, atomics of 4 and 8 bytes.
enum class number : int { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

/// The operation of a reduction.
enum class reduction : int { sum, prod, min, max, bit_and, bit_or, bit_xor };

/// An atomic operation. Atomic increments are additions of one.
enum class update : int { fetch, set, add, bit_and, bit_or, bit_xor, swap, compare_swap };

/// Which words of a set must satisfy the comparison of a wait or a test.
enum class which : int { all, any, some };

enum class collective : int { barrier, sync, broadcast, fcollect, alltoall, reduce, reduce_scatter };

/// The completion of an operation that the host calls.
struct when {
  enum class mode : int {
    blocking,     ///< complete when the call returns
    nonblocking,  ///< complete after the next quiet: the `_nbi` forms
    on_stream     ///< complete in the order of a stream
  };
  mode how;
  void* stream;          ///< a cudaStream_t
  const char* function;  ///< the name of the function that the program called
};
inline when blocking(const char* function = __builtin_FUNCTION()) { return {when::mode::blocking, nullptr, function}; }
inline when nonblocking(const char* function = __builtin_FUNCTION()) {
  return {when::mode::nonblocking, nullptr, function};
}
inline when on_stream(void* stream, const char* function = __builtin_FUNCTION()) {
  return {when::mode::on_stream, stream, function};
}

/// `count` elements of `element_bytes` each.
struct elements {
  size_t count;
  size_t element_bytes;
};

/// Words of this PE, of 2, 4 or 8 bytes, and their comparison values.
struct words {
  number type;
  const void* at;
  size_t count;
  const int* status;     ///< null, or an array that excludes each word with an entry other than 0
  int cmp;               ///< an NVSHMEM_CMP_*
  uint64_t value;        ///< a bit pattern in the low bytes, for all words
  const void* values;    ///< one value for each word; null: `value` for all
  const char* function;  ///< the name of the function that the program called
};

/// A collective of a team. Data members that a collective does not use keep their defaults.
struct collective_call {
  collective what;
  int team;
  void* dst = nullptr;
  const void* src = nullptr;
  size_t count = 0;
  size_t element_bytes = 1;
  int root = 0;              ///< for a broadcast
  number type = number::u8;  ///< only reductions use this and the next data member
  reduction op = reduction::sum;
};

}  // namespace pgas::compat

#pragma GCC visibility push(default)
extern "C" {

/// Contiguous and strided copies of elements to and from PE `pe`.
void pgas_nvshmem_put(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n, int pe);
void pgas_nvshmem_get(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n, int pe);
void pgas_nvshmem_iput(pgas::compat::when when, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                       pgas::compat::elements n, int pe);
void pgas_nvshmem_iget(pgas::compat::when when, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                       pgas::compat::elements n, int pe);
/// Writes one value of up to 16 bytes, copied during the call. Values of up to 8 bytes are written in one access.
void pgas_nvshmem_p(pgas::compat::when when, void* dst, const void* value, size_t bytes, int pe);
/// Reads one value. With a stream, the stream executes the read in stream order, and the call waits for the stream.
void pgas_nvshmem_g(pgas::compat::when when, void* value, const void* src, size_t bytes, int pe);
/// A put followed by a signal: `op` is NVSHMEM_SIGNAL_SET or _ADD.
void pgas_nvshmem_put_signal(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n,
                             uint64_t* signal, uint64_t value, int op, int pe);
void pgas_nvshmem_signal_op(pgas::compat::when when, uint64_t* signal, uint64_t value, int op, int pe);
uint64_t pgas_nvshmem_signal_fetch(const uint64_t* signal);
/// Sets a counter of this PE to 0.
void pgas_nvshmem_signal_reset(uint64_t* signal);

/// An atomic operation on a word of PE `pe`. @param function the name of the function that the program called. @return
/// The old bits, in the low bytes.
uint64_t pgas_nvshmem_atomic(pgas::compat::update how, pgas::compat::number type, const void* target, uint64_t value,
                             uint64_t condition, int pe, const char* function);

/// Waits until a word of this PE satisfies the comparison; returns the bits of the word. `count` and `status` of `one`
/// are ignored.
uint64_t pgas_nvshmem_wait(pgas::compat::words set);
/// Waits for words of a set. @return which::any: the index of a word, SIZE_MAX for an empty set; which::some: the
/// number of words that satisfy the comparison, with their indices in `indices`; which::all: 1.
size_t pgas_nvshmem_wait_set(pgas::compat::which which, pgas::compat::words set, size_t* indices);
/// Tests once. @return As pgas_nvshmem_wait_set(). If the comparison is not satisfied: SIZE_MAX for which::any,
/// otherwise 0.
size_t pgas_nvshmem_test_set(pgas::compat::which which, pgas::compat::words set, size_t* indices);
/// Makes a stream wait until all words satisfy the comparison.
void pgas_nvshmem_wait_on_stream(pgas::compat::words set, void* stream);

/// Orders or completes operations of the host or of a stream.
void pgas_nvshmem_fence(void);
void pgas_nvshmem_quiet(pgas::compat::when when);

/// Executes a collective of a team, or enqueues it on a stream. @return An nvshmemx_status.
int pgas_nvshmem_collective(pgas::compat::when when, const pgas::compat::collective_call* call);
/// A barrier or sync of all PEs, for functions without a result.
void pgas_nvshmem_barrier_all(pgas::compat::when when, pgas::compat::collective what);

/// Queries that kernels can also make.
int pgas_nvshmem_my_pe(void);
int pgas_nvshmem_n_pes(void);
int pgas_nvshmem_team_my_pe(int team);
int pgas_nvshmem_team_n_pes(int team);
int pgas_nvshmem_team_translate_pe(int from, int pe, int to);
void* pgas_nvshmem_ptr(const void* local, int pe);
void* pgas_nvshmem_mc_ptr(int team, const void* local);
[[noreturn]] void pgas_nvshmem_global_exit(int status);

/// Whether the calling thread is in a region with these hints. @return An nvshmemx_status.
int pgas_nvshmem_region_is_active(uint32_t hints, int* active);

/// Joins the world if joining was deferred. @return An nvshmemx_status.
int pgas_nvshmem_join(void);
/// The number of blocks of a kernel that can be resident for this PE on the given number of multiprocessors, if each
/// multiprocessor holds `each` blocks. Joins the world if joining was deferred. @param registers number of registers of
/// a thread
int pgas_nvshmem_admitted_blocks(int multiprocessors, int each, int threads, int registers);
/// Logs why a launch failed: the error of the CUDA runtime or, if `cause` is null, that only `fit` blocks fit.
/// @return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED.
int pgas_nvshmem_launch_failed(const char* function, unsigned long long blocks, unsigned threads, unsigned fit,
                               const char* cause);

}  // extern "C"
#pragma GCC visibility pop

namespace pgas::compat {

/// The enumerator of a type.
template <class T>
constexpr number number_of() {
  if constexpr (std::is_same_v<T, ::half>)
    return number::f16;
  else if constexpr (std::is_same_v<T, ::__nv_bfloat16>)
    return number::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return number::f32;
  else if constexpr (std::is_same_v<T, double>)
    return number::f64;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? number::i8 : number::u8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? number::i16 : number::u16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? number::i32 : number::u32;
  else
    return std::is_signed_v<T> ? number::i64 : number::u64;
}

/// Converts a value to the low bytes of a word, and back.
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T value_of(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

/// Executes an atomic operation and returns the previous value.
template <class T>
T atomic(update how, const T* target, int pe, T value = T{}, T condition = T{},
         const char* function = __builtin_FUNCTION()) {
  return value_of<T>(
      pgas_nvshmem_atomic(how, number_of<T>(), target, bits_of(value), bits_of(condition), pe, function));
}

/// The value at `src` on PE `pe`.
template <class T>
T read(when when, const T* src, int pe) {
  T value;
  pgas_nvshmem_g(when, &value, src, sizeof value, pe);
  return value;
}

/// Describes words. All words are compared with one value, or each word is compared with its own value.
template <class T>
words words_of(const T* at, size_t count, const int* status, int cmp, T value,
               const char* function = __builtin_FUNCTION()) {
  return {number_of<T>(), at, count, status, cmp, bits_of(value), nullptr, function};
}
template <class T>
words words_of(const T* at, size_t count, const int* status, int cmp, const T* values,
               const char* function = __builtin_FUNCTION()) {
  return {number_of<T>(), at, count, status, cmp, 0, values, function};
}

/// Executes a collective that moves or combines elements.
template <class T>
int move(when when, collective what, int team, T* dst, const T* src, size_t count, int root = 0) {
  const collective_call call{what, team, dst, src, count, sizeof(T), root, number_of<T>(), reduction::sum};
  return pgas_nvshmem_collective(when, &call);
}
inline int move(when when, collective what, int team, void* dst, const void* src, size_t bytes, int root = 0) {
  return move(when, what, team, static_cast<char*>(dst), static_cast<const char*>(src), bytes, root);
}
template <class T>
int combine(when when, collective what, reduction op, int team, T* dst, const T* src, size_t count) {
  const collective_call call{what, team, dst, src, count, sizeof(T), 0, number_of<T>(), op};
  return pgas_nvshmem_collective(when, &call);
}
/// Executes a collective without data.
inline int synchronize(when when, collective what, int team) {
  const collective_call call{what, team, nullptr, nullptr, 0, 1, 0, number::u8, reduction::sum};
  return pgas_nvshmem_collective(when, &call);
}

}  // namespace pgas::compat
