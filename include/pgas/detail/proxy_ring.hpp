/// @file
/// The ring of commands to the proxy for operations on proxied PEs, the answers, and the workspace of groups. A ring
/// has any number of producers (threads of kernels or of the host) and one consumer, the proxy thread of the same PE.
///
/// A producer takes a number n (adds one to ring_heads::next), waits until command n - size has been taken
/// (ring_progress::taken > n - size), fills slot n % size and releases it by writing the lap, n / size + 1, to
/// command::lap. The proxy reads the slots in turn; an acquire of the expected lap makes the rest of the slot visible,
/// and with it all earlier accesses of the producer, to the source of a put, too.
///
/// A producer that wants an answer takes a number m from ring_heads::next_answer, waits until cell m % cells is free
/// (its ring_heads::free_laps is m / cells), and names the cell in its command. The proxy writes the values and
/// releases them by setting the cell's lap to m / cells + 1; the reader then sets the free lap to m / cells + 1. As
/// each answer is awaited by the thread that asked for it, a cell becomes free without anybody's help.
///
/// (Credits and laps are those of NCCL's and DPDK's rings; one release for each command keeps to the memory model,
/// where a parity bit in each 16 bytes would rely on 16-byte stores being atomic.)
#pragma once

#include "pgas/detail/datatype_and_update.hpp"

namespace pgas::detail {

/// The operation of a command. `offset` is in the slot of PE `pe`; blocks, values and words there are whole where
/// naturally aligned and at most 8 bytes.
///
/// Commands may be executed in any order, except as stated here, and except for values, signals and atomic operations
/// to one PE: they take effect in the order of the ring, but atomic operations on different words only with another
/// command between, a fence perhaps. `complete` means: has taken effect at the target, and its result is here.
enum class command_kind : std::uint8_t {
  put,          ///< `bytes` from `local` to `offset`. Answer: `local` may be reused
  put_value,    ///< `bytes`, at most 16, of `value` to `offset`. No answer
  get,          ///< `bytes` from `offset` to `local`. Answer: they are there
  get_value,    ///< `bytes`, at most 16, from `offset`. Answer: the bytes
  put_strided,  ///< `bytes` in blocks of `block`, from `local` on, `value[0]` bytes apart, to `offset`, `value[1]`
                ///< bytes apart (both signed). Answer as put
  get_strided,  ///< the same the other way: `value[0]` is the distance at `local`, too. Answer as get
  atomic,       ///< `update` on the word of kind `as` at `offset`, with `value[0]`, and where it compares with
                ///< `value[1]`. Answer: the bits before
  put_signal,   ///< put, then `update` (set or add) with `value[0]` on the u64 at offset `value[1]`. Answer as put. The
                ///< signal comes after the data, after all earlier commands to that PE, and after the data (all but
                ///< signals) of all earlier commands to others
  put_value_signal,  ///< the same with `bytes`, at most 8, that stand in `local` themselves. No answer
  signal,            ///< put_signal without data, no answer
  fence,             ///< later commands to PE `pe` come after earlier ones to it. No answer
  quiet,             ///< Answer: all earlier commands to PE `pe`, of -1 to all PEs, are complete
};

/// One operation, in one cache line: the proxy polls a line that a producer writes, and reads on line by line. *Memory*
/// `local` is an address of this process that its proxy can access: any memory of the host, and on GPUs global memory;
/// not a stack, not shared memory of a block.
struct alignas(64) command {
  std::uint64_t lap;  ///< written last
  command_kind kind;
  atomic_update update;
  datatype as;
  std::uint8_t reserved;
  std::int32_t pe;  ///< as the world counts
  std::uint64_t offset;
  std::uint64_t local;
  std::uint64_t bytes;
  std::uint32_t answer;    ///< cell, or no_answer
  std::uint32_t block;     ///< bytes, of strided copies
  std::uint64_t value[2];  ///< bit patterns
};
static_assert(sizeof(command) == 64);

inline constexpr std::uint32_t no_answer = 0xffffffffu;

/// The proxy's answer to a command.
struct alignas(32) answer {
  std::uint64_t lap;  ///< written last
  std::uint64_t value[2];
  std::uint64_t reserved;
};
static_assert(sizeof(answer) == 32);

/// The proxy's progress; written by it alone.
struct ring_progress {
  alignas(128) std::uint64_t taken;      ///< commands that it has read; their slots may be written again
  alignas(128) std::uint64_t completed;  ///< commands, from the first on without a gap, that are complete
};

/// The producers' progress, in memory close to them. `free_laps` of the answer cells follow it.
struct ring_heads {
  alignas(128) std::uint64_t next;         ///< commands so far
  alignas(128) std::uint64_t next_answer;  ///< answers requested so far
  alignas(128) std::uint64_t taken;        ///< ring_progress::taken as some producer last saw it
  std::uint64_t completed;                 ///< ring_progress::completed likewise
};

/// A ring as its producers see it.
struct ring_view {
  command* commands = nullptr;              ///< memory of the host
  answer* answers = nullptr;                ///< memory of the host
  const ring_progress* progress = nullptr;  ///< memory of the host
  ring_heads* heads = nullptr;
  std::uint32_t log2_commands = 0;
  std::uint32_t log2_answers = 0;

  [[nodiscard]] PGAS_HD std::uint64_t* free_laps() const { return reinterpret_cast<std::uint64_t*>(heads + 1); }
  /// Bytes from `heads` on.
  [[nodiscard]] PGAS_HD static constexpr std::size_t heads_bytes(std::uint32_t log2_answers) {
    return sizeof(ring_heads) + (std::size_t{8} << log2_answers);
  }
};

/// Memory of a PE with proxied PEs that groups take for a while, for data from and to the proxy: units, taken as answer
/// cells are: number m from `next`, until unit m % units is free, when its word after `next` is m / units. A group has
/// one at most, and releases it without anybody's help.
struct workspace_view {
  static constexpr std::size_t unit_bytes = std::size_t{128} << 10;

  std::byte* units = nullptr;
  std::uint64_t* next = nullptr;
  std::uint32_t log2_units = 0;

  /// Bytes at `units`, and at `next`, where zeros stand at first.
  [[nodiscard]] PGAS_HD static constexpr std::size_t bytes(std::uint32_t log2_units) {
    return unit_bytes << log2_units;
  }
  [[nodiscard]] PGAS_HD static constexpr std::size_t words_bytes(std::uint32_t log2_units) {
    return (std::size_t{8} << log2_units) + 8;
  }
};

}  // namespace pgas::detail
