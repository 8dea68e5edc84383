/// @file
/// The arguments of every kernel of the benchmark.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace side_by_side {

/// The times, in nanoseconds, at which a block started and stopped its clock; zero if the block measured nothing.
struct span {
  unsigned long long start;
  unsigned long long end;
};

/// The GPUs for which the benchmark is made can run this number of blocks at the same time.
constexpr int most_blocks = 132;
constexpr int most_pes = 16;

/// The time of an access to a word depends on the part of the L2 cache that holds the word. Rows that access single
/// words use many locations, one after another, so that no library gets a better location by chance.
constexpr int places = 64;
/// The distance of two locations in words. The distance is larger than a cache line and is not a multiple of a line, so
/// that the locations are at different positions in their lines. A location has room for a word of each PE.
constexpr int place_words = 17;
inline __host__ __device__ std::size_t place(std::uint64_t i) { return i % places * place_words; }

/// The arguments of a kernel: symmetric addresses, and for hand-written kernels the addresses at which the memory of PE
/// `peer` is mapped.
struct arguments {
  std::uint64_t* dest;
  std::uint64_t* source;
  std::uint64_t* signal;  ///< zero at the start of a run
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
  unsigned long long* wrong;  ///< the number of errors that the kernel itself has found
};

}  // namespace side_by_side
