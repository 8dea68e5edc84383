/// @file
/// What every kernel of the benchmark is called with.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace side_by_side {

/// When a block started its clock and when it stopped, in nanoseconds; zero if it had nothing to time.
struct span {
  unsigned long long start;
  unsigned long long end;
};

constexpr int most_blocks = 132;  ///< all of them run at once, on the GPUs that this is for
constexpr int most_pes = 16;

/// How long a word takes depends on where in the L2 it lies, and no library should be lucky: so rows about single words
/// use many in turn.
constexpr int places = 64;
constexpr int place_words =
    17;  ///< from one to the next: a line, and not always the same part of it; a word of each PE
inline __host__ __device__ std::size_t place(std::uint64_t i) { return i % places * place_words; }

/// Symmetric addresses, and for hand-written kernels where PE `peer`'s memory is mapped.
struct arguments {
  std::uint64_t* dest;
  std::uint64_t* source;
  std::uint64_t* signal;  ///< zero at the beginning of a run
  std::uint64_t* dest_there;
  std::uint64_t* source_there;
  std::uint64_t* signal_there;
  std::uint64_t* signals_of[most_pes];
  std::size_t words;
  int me;
  int n;
  int peer;
  int warm_up;
  int iterations;
  span* times;
  unsigned long long* wrong;  ///< counts what the kernel itself has found wrong
};

}  // namespace side_by_side
