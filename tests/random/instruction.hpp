/// @file
/// The parts of random programs. A program is a list of instructions for every block of every PE. The interpreter
/// executes a program on the CPU or on GPUs, and the model executes the same program on a few arrays.
#pragma once

#include <cstdint>

#include "pgas/signal_types.hpp"

namespace pgas_random {

enum class opcode : std::uint8_t {
  // single values
  p,
  g,
  // arrays
  put,
  put_nbi,
  get,
  get_nbi,
  iput,
  iput_nbi,
  iget,
  iget_nbi,
  ibput,
  ibput_nbi,
  ibget,
  ibget_nbi,
  put_list,
  put_list_nbi,
  get_list,
  get_list_nbi,
  // signals and waits
  put_signal,
  put_signal_nbi,
  signal_set,
  signal_add,
  signal_fetch,
  wait,
  wait_all,
  wait_any,
  wait_some,
  wait_all_vector,
  wait_any_vector,
  wait_some_vector,
  // atomics
  atomic_fetch,
  atomic_set,
  atomic_swap,
  atomic_compare_swap,
  atomic_add,
  atomic_fetch_add,
  atomic_inc,
  atomic_fetch_inc,
  atomic_and,
  atomic_fetch_and,
  atomic_or,
  atomic_fetch_or,
  atomic_xor,
  atomic_fetch_xor,
  atomic_min,
  atomic_fetch_min,
  atomic_max,
  atomic_fetch_max,
  // a word that is read and written in separate accesses by the holder of its lock
  set_lock,
  test_lock,
  // order
  fence,
  quiet,
  barrier,
  sync,
  // collectives
  broadcast,
  fcollect,
  collect,
  alltoall,
  alltoalls,
  reduce,
  reduce_to_root,
  reduce_scatter,
  inclusive_scan,
  exclusive_scan,
  // plain stores to the PE's own memory: small numbers of the element type
  fill,
};

/// The element type of an operation: raw bytes (1 to 16), numbers, or pairs of 16-bit numbers.
enum class element : std::uint8_t { b1, b2, b4, b8, b16, i32, u32, i64, u64, f32, f64, f16, bf16, f16x2, bf16x2 };

[[nodiscard]] PGAS_HD constexpr std::uint32_t bytes_of(element e) {
  switch (e) {
    case element::b1: return 1;
    case element::b2:
    case element::f16:
    case element::bf16: return 2;
    case element::b4:
    case element::f16x2:
    case element::bf16x2:
    case element::i32:
    case element::u32:
    case element::f32: return 4;
    case element::b8:
    case element::i64:
    case element::u64:
    case element::f64: return 8;
    case element::b16: return 16;
  }
  return 1;
}

/// The threads that make the call. For `grid`, every block has the instruction.
enum class caller : std::uint8_t { thread, warp, block, grid };

/// The operations of reductions. `first` and `last` return one of the two operands, so that a wrong order of members
/// changes the result.
enum class reduction : std::uint8_t { sum, prod, min, max, bit_xor, first, last };

template <class T>
[[nodiscard]] PGAS_HD constexpr T combine_two(reduction how, T a, T b) {
  switch (how) {
    case reduction::sum: return static_cast<T>(a + b);
    case reduction::prod: return static_cast<T>(a * b);
    case reduction::min: return b < a ? b : a;
    case reduction::max: return a < b ? b : a;
    case reduction::bit_xor:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(a ^ b);
      else
        return a;
    case reduction::first: return a;
    case reduction::last: return b;
  }
  return a;
}

/// There is no location for a result, because it is not determined or not needed.
inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

/// One operation of one block. A location is an offset in bytes from the start of the arena, the same on every PE.
struct instruction {
  opcode what;
  caller by;
  element type;
  std::uint8_t team;  ///< the team whose numbering `pe` uses; for a barrier or a collective, the team that calls it
  std::int32_t pe;    ///< for a collective, the root
  std::uint32_t dst;
  std::uint32_t src;  ///< for a wait for several words, the index of the block's word set
  std::uint32_t count;
  std::int32_t dst_stride;
  std::int32_t src_stride;
  std::uint32_t signal;  ///< the index of a signal word, of a lock or of an array of blocks
  std::uint32_t result;  ///< the location of the result in this PE's own arena
  pgas::signal_op how;
  pgas::cmp compare;
  std::uint32_t number;     ///< the number of the operation in the program, for people
  std::uint64_t value;      ///< the operand; for a 16-byte value, the first half; for a reduction, its kind; for a list
                            ///< or a strided copy of blocks, the number of elements of a block
  std::uint64_t condition;  ///< for compare_swap, the expected value; for a 16-byte value, the second half
};
static_assert(sizeof(instruction) == 64);

/// For a strided copy: the bytes of a block, and the location of block k of a side that starts at `start`. Strides may
/// be negative.
[[nodiscard]] inline std::uint32_t block_bytes(const instruction& i) {
  return static_cast<std::uint32_t>(i.value) * bytes_of(i.type);
}
[[nodiscard]] inline std::uint32_t block_place(const instruction& i, std::uint32_t start, std::int32_t stride,
                                               std::uint32_t k) {
  return start + k * static_cast<std::uint32_t>(stride) * bytes_of(i.type);
}

[[nodiscard]] inline instruction blank() {
  instruction i{};
  i.result = nowhere;
  return i;
}

/// The condition of a wait for several words, and the allowed results.
struct word_set {
  static constexpr std::uint32_t most = 16;
  std::uint64_t values[most];  ///< for the forms with a value for each word
  std::int32_t status[most];
  /// A mask with a bit for each requested word. If the bit is set, the word satisfies the comparison at some time,
  /// otherwise at no time.
  std::uint32_t certain;
  std::uint32_t known;        ///< a part of `certain`: before the wait, the block already knows that these words
                              ///< satisfy the comparison
  std::size_t indices[most];  ///< memory for the result
};

/// The number of teams of a program. The first team is the world.
inline constexpr std::uint32_t n_teams = 6;

/// The memory of a program: an arena of raw bytes and some words on each PE.
struct places {
  static constexpr std::uint32_t arena_bytes = 24 * 1024;
  static constexpr std::uint32_t guard_bytes = 256;  ///< the bytes of the guard on each side of the arena
  static constexpr unsigned char guard_byte = 0xa5;
  static constexpr std::uint32_t most_blocks = 16;  ///< the largest number of blocks of all PEs together
  /// Words that are written with put_signal. Each word has one writing block, and its index is the number of the block.
  static constexpr std::uint32_t sent_words = 0;
  /// Words that are written with signal_set, each by one block.
  static constexpr std::uint32_t set_words = most_blocks;
  /// Words to which any actor adds.
  static constexpr std::uint32_t added_words = 2 * most_blocks;
  /// Words that each team's lock guards, and the locks. A lock is free at the end, so its word always ends with the
  /// same value.
  static constexpr std::uint32_t guarded_words = 3 * most_blocks;
  static constexpr std::uint32_t locks = guarded_words + n_teams;
  static constexpr std::uint32_t signal_words = locks + n_teams;
  /// The largest number of blocks of an array. Longer lists consist of pages.
  static constexpr std::uint32_t listed_blocks = 12;
};

}  // namespace pgas_random
