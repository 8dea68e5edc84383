/// @file
/// The memory of all PEs after a program, predicted in one thread without any code of the library.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "instruction.hpp"

namespace pgas_random {

/// Pseudo-random numbers that differ for neighbouring arguments.
[[nodiscard]] PGAS_HD constexpr std::uint32_t scramble(std::uint64_t seed, std::uint32_t i) {
  std::uint32_t x = static_cast<std::uint32_t>(seed) * 0x9e3779b1u +
                    static_cast<std::uint32_t>(seed >> 32) * 0x85ebca77u + i * 0xc2b2ae3du + 0x27d4eb2fu;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  x ^= x >> 12;
  x *= 0x297a2d39u;
  return x ^ x >> 15;
}

/// The small number that opcode::fill stores at index i. Sums and products of a few such numbers are exact in every
/// type.
[[nodiscard]] PGAS_HD constexpr int small_number(std::uint64_t seed, std::uint32_t i) {
  return static_cast<int>(scramble(seed, i) % 4);
}

class model {
 public:
  /// @param domain the number of neighbours in a domain
  model(int n_pes, int domain);

  /// Executes an operation of PE `me` on PE `pe`. Both numbers are PE numbers of the world.
  void apply(const instruction& i, int me, int pe);
  /// Executes a collective, given each member's call.
  void apply(std::span<const instruction> calls, std::span<const int> members);

  [[nodiscard]] std::span<const unsigned char> arena(int pe) const { return arenas_[index(pe)].bytes; }
  [[nodiscard]] std::uint64_t signal(int pe, std::uint32_t word) const { return arenas_[index(pe)].signals[word]; }
  /// The number of the operation that last wrote a byte; 0: none.
  [[nodiscard]] std::uint32_t writer(int pe, std::uint32_t offset) const { return arenas_[index(pe)].writers[offset]; }

  template <class T>
  [[nodiscard]] T load(int pe, std::uint32_t offset) const {
    T value;
    std::memcpy(&value, arenas_[index(pe)].bytes.data() + offset, sizeof(T));
    return value;
  }

 private:
  struct memory {
    std::vector<unsigned char> bytes;
    std::vector<std::uint32_t> writers;
    std::vector<std::uint64_t> signals;
  };

  [[nodiscard]] static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  void write(int pe, std::uint32_t offset, const void* from, std::uint32_t bytes, std::uint32_t number);
  void copy(int to, std::uint32_t dst, int from, std::uint32_t src, std::uint32_t bytes, std::uint32_t number);
  void send(const instruction& i, int pe);
  void fill(const instruction& i, int me);
  void copy_strided(const instruction& i, int to, int from);
  template <class T>
  void combine(std::span<const instruction> calls, std::span<const int> members);
  template <class T>
  void update(const instruction& i, int me, int pe);

  /// The order in which a reduction combines the members' elements.
  [[nodiscard]] std::vector<std::size_t> by_domain(std::span<const int> members) const;

  int domain_;
  std::vector<memory> arenas_;
};

}  // namespace pgas_random
