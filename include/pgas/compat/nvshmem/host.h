/// @file
/// What NVSHMEM's functions call on the host: one entry for each idea, types and operations as values. Programs use the
/// typed functions; these are the ABI between the headers and libnvshmem_host. C++17.
///
/// How translation units announce where kernels find their state is in state.h.
///
/// *Errors* entries that return an nvshmemx_status, a pointer or a number in a team return that it failed. All others
/// log what went wrong, with the name of the function that the program called, and end the processes of all PEs.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace pgas::compat {

/// What the bits of an element mean. Waits take integers of 2, 4 and 8 bytes, atomics 4 and 8 bytes.
enum class number : int { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

/// What elements are combined with.
enum class reduction : int { sum, prod, min, max, bit_and, bit_or, bit_xor };

/// What an atomic operation does to its word. inc is an add of one.
enum class update : int { fetch, set, add, bit_and, bit_or, bit_xor, swap, compare_swap };

/// What a wait or a test asks of a set of words.
enum class which : int { all, any, some };

enum class collective : int { barrier, sync, broadcast, fcollect, alltoall, reduce, reduce_scatter };

/// When an operation called by the host is carried out.
struct when {
  enum class turn : int {
    now,       ///< complete when the call returns
    later,     ///< by the next quiet: the `_nbi` forms
    on_stream  ///< when the stream gets there
  };
  turn how;
  void* stream;          ///< a cudaStream_t
  const char* function;  ///< that the program called: where these three are called
};
inline when at_once(const char* function = __builtin_FUNCTION()) { return {when::turn::now, nullptr, function}; }
inline when by_quiet(const char* function = __builtin_FUNCTION()) { return {when::turn::later, nullptr, function}; }
inline when on_stream(void* stream, const char* function = __builtin_FUNCTION()) {
  return {when::turn::on_stream, stream, function};
}

/// `count` elements of `element_bytes` each.
struct elements {
  size_t count;
  size_t element_bytes;
};

/// Words of this PE, of 2, 4 or 8 bytes, and what they are compared with.
struct words {
  number type;
  const void* at;
  size_t count;
  const int* status;     ///< null, or excludes the words whose entry is not 0
  int cmp;               ///< NVSHMEM_CMP_*
  uint64_t value;        ///< bit pattern in the low bytes, for all words
  const void* values;    ///< one for each word instead; null: `value`
  const char* function;  ///< that the program called
};

/// A collective call of a team's members; what it does not need is left out.
struct collective_call {
  collective what;
  int team;
  void* dst = nullptr;
  const void* src = nullptr;
  size_t count = 0;
  size_t element_bytes = 1;
  int root = 0;              ///< of broadcast
  number type = number::u8;  ///< of reductions, as the next
  reduction op = reduction::sum;
};

}  // namespace pgas::compat

#pragma GCC visibility push(default)
extern "C" {

/// Copies from and to PE `pe`. Strides count elements.
void pgas_nvshmem_put(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n, int pe);
void pgas_nvshmem_get(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n, int pe);
void pgas_nvshmem_iput(pgas::compat::when when, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                       pgas::compat::elements n, int pe);
void pgas_nvshmem_iget(pgas::compat::when when, void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                       pgas::compat::elements n, int pe);
/// Writes one value of up to 16 bytes, which is taken at the call. Values of up to 8 bytes arrive whole.
void pgas_nvshmem_p(pgas::compat::when when, void* dst, const void* value, size_t bytes, int pe);
/// Reads one value. On a stream: once the stream gets there, which the call waits for.
void pgas_nvshmem_g(pgas::compat::when when, void* value, const void* src, size_t bytes, int pe);
/// put, then the signal: `op` is NVSHMEM_SIGNAL_SET or _ADD.
void pgas_nvshmem_put_signal(pgas::compat::when when, void* dst, const void* src, pgas::compat::elements n,
                             uint64_t* signal, uint64_t value, int op, int pe);
void pgas_nvshmem_signal_op(pgas::compat::when when, uint64_t* signal, uint64_t value, int op, int pe);
uint64_t pgas_nvshmem_signal_fetch(const uint64_t* signal);

/// Carries out an atomic operation on a word of PE `pe`, for the function with this name. *On return* the bits before,
/// in the low bytes.
uint64_t pgas_nvshmem_atomic(pgas::compat::update how, pgas::compat::number type, const void* target, uint64_t value,
                             uint64_t condition, int pe, const char* function);

/// Waits until a word of this PE satisfies the comparison; returns its bits. `count` and `status` of `one` are ignored.
uint64_t pgas_nvshmem_wait(pgas::compat::words one);
/// Waits for words of a set. *On return* which::any: the index of one, SIZE_MAX for an empty set; which::some: how many
/// satisfy the comparison, with their indices in `indices`; which::all: 1.
size_t pgas_nvshmem_wait_set(pgas::compat::which which, pgas::compat::words set, size_t* indices);
/// Looks once. *On return* as pgas_nvshmem_wait_set(), and 0, or SIZE_MAX for which::any, where it is not satisfied.
size_t pgas_nvshmem_test_set(pgas::compat::which which, pgas::compat::words set, size_t* indices);
/// Holds a stream until all words satisfy the comparison.
void pgas_nvshmem_wait_on_stream(pgas::compat::words set, void* stream);

/// Orders, or completes, what the host has called, or enqueued on the stream.
void pgas_nvshmem_fence(void);
void pgas_nvshmem_quiet(pgas::compat::when when);

/// A collective of a team, called by the host or enqueued. *On return* an nvshmemx_status.
int pgas_nvshmem_collective(pgas::compat::when when, const pgas::compat::collective_call* call);
/// A barrier or sync of all PEs, for functions that return nothing.
void pgas_nvshmem_meet_all(pgas::compat::when when, pgas::compat::collective what);

/// Queries that kernels can make as well.
int pgas_nvshmem_my_pe(void);
int pgas_nvshmem_n_pes(void);
int pgas_nvshmem_team_my_pe(int team);
int pgas_nvshmem_team_n_pes(int team);
int pgas_nvshmem_team_translate_pe(int from, int pe, int to);
void* pgas_nvshmem_ptr(const void* local, int pe);
void* pgas_nvshmem_mc_ptr(int team, const void* local);
[[noreturn]] void pgas_nvshmem_global_exit(int status);

/// Joins the world if that has not happened yet. *On return* an nvshmemx_status.
int pgas_nvshmem_join(void);
/// How many blocks of a kernel this PE may have at once, of which each of so many multiprocessors holds `each`. Joins as
/// well. @param registers of a thread
int pgas_nvshmem_admitted_blocks(int multiprocessors, int each, int threads, int registers);
/// Logs why a launch of so many blocks failed: the cause that the CUDA runtime names, or with null that only `fit` run at
/// once. *On return* NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED.
int pgas_nvshmem_launch_failed(const char* function, unsigned long long blocks, unsigned threads, unsigned fit,
                               const char* cause);

}  // extern "C"
#pragma GCC visibility pop
