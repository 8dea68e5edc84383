/// @file
/// Random words that depend on the PE that wrote them, and checks of arrived words.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace side_by_side {

/// The sizes of collectives on streams, in bytes: small sizes, large sizes, and the sizes of examples/25_allreduce and
/// 24_moe.
inline constexpr std::size_t allreduce_sizes[] = {1 << 10, 8 << 10, 128 << 10, 512 << 10,
                                                  2 << 20, 8 << 20, 32 << 20,  128 << 20};
inline constexpr std::size_t alltoall_sizes[] = {1 << 10,  112 << 10, 512 << 10, 1792 << 10,
                                                 14 << 20, 32 << 20,  128 << 20};

/// The expected contents of an array of words.
struct expected {
  enum kind {
    of_pe,      ///< the words of PE `pe`
    gathered,   ///< the first `each` words of PE 0, of PE 1, and so on
    exchanged,  ///< the part with number `pe` of each PE, in the order of the PEs
    summed,     ///< the sums of all PEs' words, as 64-bit numbers or as pairs of 32-bit numbers
  };
  kind what = of_pe;
  std::uint64_t seed = 0;
  int pe = 0;
  int pes = 1;
  std::size_t each = 0;
};

/// Word i of PE pe. Both halves are small enough that sums do not overflow.
inline __host__ __device__ std::uint64_t word(std::uint64_t seed, int pe, std::size_t i) {
  std::uint64_t x =
      (i + 1) * 0x9e3779b97f4a7c15ull + (seed * 64 + static_cast<std::uint64_t>(pe)) * 0xd1b54a32d192ed03ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return (x ^ (x >> 31)) & 0x00ffffff00ffffffull;
}

/// Fills `words` words with the words of PE pe. Returns when the memory is filled. The following functions also wait
/// for their work.
void fill(std::uint64_t* to, std::size_t words, std::uint64_t seed, int pe);
/// Overwrites the memory with data that no PE sends.
void poison(void* to, std::size_t bytes);
/// Returns the number of words that differ from the expected words.
std::uint64_t wrong_words(const std::uint64_t* in, std::size_t words, const expected& as);

/// Ends the process with a message if a call of CUDA has failed.
void must(cudaError_t status, const char* what);

}  // namespace side_by_side
