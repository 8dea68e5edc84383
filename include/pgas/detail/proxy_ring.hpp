/// @file
/// Four things: the ring of commands to the proxy, for operations on proxied PEs; the cells for the answers of the
/// proxy; the workspace of groups; and the bell, by which the proxy and threads of the host wake each other. A ring has
/// any number of producers (threads of kernels or of the host) and one consumer, the proxy thread of the same PE.
///
/// A producer takes a number n (adds one to ring_heads::next) and waits until the proxy has taken command n - size
/// (ring_progress::taken > n - size). The producer then fills slot n % size, and releases the slot by writing the lap,
/// n / size + 1, to command::lap. The proxy reads the slots in order. An acquire of the expected lap makes the rest of
/// the slot visible, together with all earlier accesses of the producer, including the accesses to the source of a put.
///
/// A producer that needs an answer takes a number m from ring_heads::next_answer, waits until cell m % cells is free
/// (its ring_heads::free_laps is m / cells), and names the cell in its command. The proxy writes the values, and
/// releases the values by setting the cell's lap to m / cells + 1. After the reader has read the values, the reader
/// sets the free lap to m / cells + 1. The thread that requested an answer waits for the answer, so every cell becomes
/// free again.
///
/// (NCCL's and DPDK's rings use the same credits and laps. The alternative, a parity bit in each 16 bytes, would need
/// no release for each command, but the memory model does not guarantee atomic 16-byte stores.)
#pragma once

#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

#if !defined(__CUDACC__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pgas::detail {

/// The operation of a command. `offset` is in the slot of PE `pe`. Naturally aligned blocks, values and words of at
/// most 8 bytes are transferred in one piece.
///
/// The proxy may execute commands in any order, with the following exceptions. Values, signals and atomic operations to
/// one PE take effect in the order of the ring; atomic operations on different words take effect in this order only if
/// another command, for example a fence, is between them. `complete` means that the command has taken effect at the
/// target and that its result has arrived.
enum class command_kind : std::uint8_t {
  put,        ///< copies `bytes` bytes from `local` to `offset`. Answer: `local` may be reused
  put_value,  ///< copies `bytes` bytes, at most 16, of `value` to `offset`. No answer
  get,        ///< copies `bytes` bytes from `offset` to `local`. Answer: the data has arrived
  get_value,  ///< reads `bytes` bytes, at most 16, at `offset`. Answer: the bytes
  /// Copies `bytes` bytes in blocks of `block` bytes. The blocks are `value[0]` bytes apart at `local`, and `value[1]`
  /// bytes apart at `offset` (both signed). Answer: as for put.
  put_strided,
  get_strided,  ///< put_strided in the other direction, with the same `value`. Answer: as for get
  /// Applies `update` to the word of type `as` at `offset`, with the operand `value[0]` and, for compare_swap, the
  /// comparison value `value[1]`. Answer: the old bits.
  atomic,
  /// A put, and then a signal: `update` (set or add) of the 64-bit word at offset `value[1]`, with the operand
  /// `value[0]`. Answer: as for put. The signal takes effect after the data, after all earlier commands to that PE, and
  /// after the data (but not the signals) of all earlier commands to other PEs.
  put_signal,
  put_value_signal,  ///< put_signal of `bytes` bytes, at most 8; the field `local` holds the bytes. No answer
  signal,            ///< put_signal without data. No answer
  fence,             ///< orders earlier commands to PE `pe` before later ones. No answer
  quiet,             ///< Answer: all earlier commands to `pe` (-1: to all PEs) are complete
  /// Copies the blocks of an array of listed_block to PE `pe`. The array starts at `local` and has `bytes` bytes, for
  /// at most workspace_view::most_listed blocks. Answer: the array may be reused.
  put_list,
  get_list,  ///< put_list in the other direction
};

/// One operation. A command is one cache line: the proxy polls the line that a producer will write next.
/// *Memory* `local` is an address of this process that its proxy can access: any memory of the host, and on GPUs also
/// global memory, but never a GPU thread's stack or a block's shared memory.
struct alignas(64) command {
  std::uint64_t lap;  ///< written last
  command_kind kind;
  atomic_update update;
  datatype as;
  std::uint8_t reserved;
  std::int32_t pe;  ///< the number in the world
  std::uint64_t offset;
  std::uint64_t local;
  std::uint64_t bytes;
  std::uint32_t answer;    ///< the number of the answer cell, or no_answer
  std::uint32_t block;     ///< the bytes of a block, for strided copies
  std::uint64_t value[2];  ///< bit patterns
};
static_assert(sizeof(command) == 64);

inline constexpr std::uint32_t no_answer = 0xffffffffu;

/// One block of a put_list or a get_list.
struct listed_block {
  std::uint64_t offset;  ///< the offset in the slot of the other PE
  std::uint64_t local;   ///< an address, with the rules of command::local
  std::uint64_t bytes;   ///< may be 0
};
static_assert(sizeof(listed_block) == 24);

/// The proxy's answer to a command.
struct alignas(32) answer {
  std::uint64_t lap;  ///< written last
  std::uint64_t value[2];
  std::uint64_t reserved;
};
static_assert(sizeof(answer) == 32);

/// The proxy's progress; only the proxy writes it.
struct ring_progress {
  /// The number of commands that the proxy has read. Producers may overwrite the slots of these commands.
  alignas(128) std::uint64_t taken;
  alignas(128) std::uint64_t completed;  ///< the commands before this number are all complete
};

/// The producers' progress, in memory close to the producers. The array `free_laps` of the answer cells follows this
/// struct.
struct ring_heads {
  alignas(128) std::uint64_t next;         ///< the number of commands so far
  alignas(128) std::uint64_t next_answer;  ///< the number of answers requested so far
  alignas(128) std::uint64_t taken;        ///< ring_progress::taken, as a producer last read it
  std::uint64_t completed;                 ///< ring_progress::completed, as a producer last read it
};

/// The addresses of a ring for its producers.
struct ring_view {
  command* commands = nullptr;              ///< memory of the host
  answer* answers = nullptr;                ///< memory of the host
  const ring_progress* progress = nullptr;  ///< memory of the host
  ring_heads* heads = nullptr;
  std::uint32_t log2_commands = 0;
  std::uint32_t log2_answers = 0;

  [[nodiscard]] PGAS_HD std::uint64_t* free_laps() const { return reinterpret_cast<std::uint64_t*>(heads + 1); }
  /// The size of the memory at `heads`.
  [[nodiscard]] PGAS_HD static constexpr std::size_t heads_bytes(std::uint32_t log2_answers) {
    return sizeof(ring_heads) + (std::size_t{8} << log2_answers);
  }
};

/// The workspace: memory that groups reserve temporarily for data from and to the proxy, on PEs with proxied peers. The
/// workspace consists of units, which are reserved like answer cells. A group takes number m from `next`, and waits
/// until unit m % units is free: the word of each unit follows `next`, and the unit is free when its word is m / units.
/// A group reserves at most one unit, and releases the unit unless a wait has failed.
struct workspace_view {
  static constexpr std::size_t unit_bytes = std::size_t{128} << 10;
  static constexpr std::size_t most_listed = unit_bytes / sizeof(listed_block);  ///< the blocks of a put_list

  std::byte* units = nullptr;
  std::uint64_t* next = nullptr;
  std::uint32_t log2_units = 0;

  /// The size of the memory at `units`, and at `next`. The words at `next` are initially zero.
  [[nodiscard]] PGAS_HD static constexpr std::size_t bytes(std::uint32_t log2_units) {
    return unit_bytes << log2_units;
  }
  [[nodiscard]] PGAS_HD static constexpr std::size_t words_bytes(std::uint32_t log2_units) {
    return (std::size_t{8} << log2_units) + 8;
  }
};

// ---- the bell: threads of the host sleep until the proxy has made progress, and the proxy sleeps until a command
// arrives. GPU threads poll, and can't wake a thread of the host.

/// The words for wakeups. The control block of each PE has one proxy_bell. *Memory* initially zero; without a proxy the
/// words stay zero.
struct proxy_bell {
  std::uint32_t rung;              ///< a futex that the proxy changes whenever it has made progress
  mutable std::uint32_t sleepers;  ///< the number of threads that sleep until `rung` changes
  std::uint32_t proxy_sleeps;      ///< 1: the proxy sleeps, or is about to sleep, until a command arrives
  void (*wake)(void* proxy);
  void* proxy;
};

#if !defined(__CUDACC__)

/// Sleeps until `word` differs from `seen`, the word's owner wakes the thread, or `limit_ns` have passed. A futex wait
/// is not a cancellation point of POSIX threads. No wait of the library is a cancellation point.
inline void sleep_on(const std::uint32_t& word, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000u), static_cast<long>(limit_ns % 1'000'000'000u)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

[[nodiscard]] inline std::uint32_t times_rung(const proxy_bell& bell) noexcept {
  return __atomic_load_n(&bell.rung, __ATOMIC_ACQUIRE);
}

/// Sleeps until the proxy has made progress since times_rung() returned `seen`, or `limit_ns` have passed. The thread
/// polls its condition between times_rung() and this call, so the thread misses no wakeup.
inline void sleep_until_rung(const proxy_bell& bell, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
  __atomic_fetch_add(&bell.sleepers, 1, __ATOMIC_SEQ_CST);
  sleep_on(bell.rung, seen, limit_ns);
  __atomic_fetch_sub(&bell.sleepers, 1, __ATOMIC_RELAXED);
}

/// Wakes the sleeping threads. *Callers* the proxy, after it has published its answers.
inline void ring_bell(proxy_bell& bell) noexcept {
  __atomic_fetch_add(&bell.rung, 1, __ATOMIC_SEQ_CST);  // this thread sees a new sleeper, or the sleeper sees `rung`
  if (__atomic_load_n(&bell.sleepers, __ATOMIC_SEQ_CST) != 0)
    ::syscall(SYS_futex, &bell.rung, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

/// Announces that the proxy is about to sleep. The proxy must look for commands again after this call.
inline void announce_sleep(proxy_bell& bell) noexcept { __atomic_exchange_n(&bell.proxy_sleeps, 1, __ATOMIC_SEQ_CST); }
/// An exchange, because a store would end the release sequence of a producer's addition in wake_proxy(): the proxy
/// would not be sure to see the command of that producer before its next sleep.
inline void end_sleep(proxy_bell& bell) noexcept { __atomic_exchange_n(&bell.proxy_sleeps, 0, __ATOMIC_ACQUIRE); }

#endif

/// Wakes the proxy if it sleeps. *Callers* producers, after a command. Has no effect on GPU threads.
PGAS_FN void wake_proxy([[maybe_unused]] proxy_bell& bell) {
#if !defined(__CUDACC__)
  // The addition of 0 is a modification of the word. The later of two modifications of a word sees all accesses that
  // precede the earlier modification, so this thread and the proxy can't miss each other.
  if (__atomic_fetch_add(&bell.proxy_sleeps, 0, __ATOMIC_SEQ_CST) != 0 &&
      __atomic_exchange_n(&bell.proxy_sleeps, 0, __ATOMIC_RELAXED) != 0)
    bell.wake(bell.proxy);
#endif
}

}  // namespace pgas::detail
