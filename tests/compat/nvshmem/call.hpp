/// @file
/// Describes one call of an NVSHMEM function by values. Generated code makes the call, and check_*.cpp checks its
/// result. Only the documented interface is used, so that the same source also runs with NVIDIA's library.
#pragma once

#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace conformance {

/// Arguments for any function. A function uses the arguments for which it has parameters. The struct is passed to
/// kernels by value.
struct call {
  int which;  ///< the number of the function in its family
  int element_bytes;
  void* dest;          ///< symmetric
  const void* source;  ///< symmetric
  void* host_dest;     ///< pinned host memory, like the following members
  const void* host_source;
  std::size_t n;
  int pe;
  std::ptrdiff_t dst, sst;
  std::uint64_t* signal;  ///< symmetric
  std::uint64_t value;    ///< the value of a signal
  int op;                 ///< the operation of a signal
  std::uint64_t awaited;  ///< the value that this PE's own signal will have
  nvshmem_team_t team;
  int root;
  std::uint64_t bits, condition;  ///< the operands of atomic operations and waits, in the low bytes
  int cmp;
  const int* status;
  const void* values;        ///< the values for the comparison, one for each word
  std::uint64_t write_mask;  ///< the words of PE `pe` that are written before the wait
  const std::uint64_t* writes;
  std::size_t* indices;
  std::uint64_t* result;
  cudaStream_t stream;
};

/// The element type of a function.
enum class kind { bytes, sint, uint, f16, bf16, f32, f64 };

/// One function of a family.
struct function {
  const char* name;
  int element_bytes;
  kind type;
};

/// Functions that are called and checked in the same way. `run` makes a call and returns when it is complete.
struct family {
  const char* name;
  const char* shape;  ///< the name of the check
  const char* scope;  ///< thread, warp, block, host or stream
  const char* operation;
  std::vector<function> functions;
  void (*run)(const call&);
};

/// All families that are linked in.
std::vector<family>& families();
struct registration {
  explicit registration(family item) { families().push_back(std::move(item)); }
};

/// Starts a kernel on all PEs together and waits for its end.
void launch(const void* kernel, const call& c, int threads);

#if defined(__CUDACC__)
#define CONFORMANCE_BOTH __host__ __device__
#else
#define CONFORMANCE_BOTH
#endif

/// The value with these bits, and the bits of a value.
template <class T>
CONFORMANCE_BOTH T value_of(std::uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}
template <class T>
CONFORMANCE_BOTH void give(const call& c, T value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  *c.result = bits;
}

#undef CONFORMANCE_BOTH

/// Writes the words for which the neighbour waits.
#if defined(__CUDACC__)
__host__ __device__
#endif
    inline void
    write_words(const call& c) {
  for (std::size_t i = 0; i < c.n; ++i) {
    if ((c.write_mask >> i & 1) == 0) continue;
    if (c.element_bytes == 2) {
      nvshmem_uint16_p(static_cast<std::uint16_t*>(c.dest) + i, static_cast<std::uint16_t>(c.writes[i]), c.pe);
    } else if (c.element_bytes == 4) {
      nvshmem_uint32_p(static_cast<std::uint32_t*>(c.dest) + i, static_cast<std::uint32_t>(c.writes[i]), c.pe);
    } else {
      nvshmem_uint64_p(static_cast<std::uint64_t*>(c.dest) + i, c.writes[i], c.pe);
    }
  }
}

#if defined(__CUDACC__)
/// Waits for this PE's own signal, then copies the data that arrived with the signal, as this kernel sees it.
__device__ inline void after_signal(const call& c) {
  __syncthreads();
  if (threadIdx.x == 0) nvshmem_signal_wait_until(c.signal, NVSHMEM_CMP_EQ, c.awaited);
  __syncthreads();
  const std::size_t bytes = c.n * static_cast<std::size_t>(c.element_bytes);
  for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x)
    static_cast<unsigned char*>(c.host_dest)[i] = static_cast<const unsigned char*>(c.dest)[i];
}
#endif

}  // namespace conformance
