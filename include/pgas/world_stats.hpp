/// @file
/// The statistics of a PE since it joined. world::stats() returns them, and `pgas-info --serve` serves them.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pgas/detail/struct_members.hpp"
#include "pgas/symmetric_memory.hpp"

namespace pgas {

/// @brief The operations on one PE and their bytes. put_signal() counts as a put and a signal.
///
/// Operations of 0 bytes and operations that threw do not count.
struct operation_counts {
  std::uint64_t puts = 0;       ///< put, p, iput, ibput, put_list, and the data of put_signal
  std::uint64_t put_bytes = 0;  ///< bytes that puts wrote; a list that is an array of blocks counts 0 bytes
  std::uint64_t gets = 0;       ///< get, g, iget, ibget, get_list
  std::uint64_t get_bytes = 0;  ///< bytes that gets read; a list that is an array of blocks counts 0 bytes
  std::uint64_t atomics = 0;    ///< atomic operations of every kind, including those of locks
  std::uint64_t signals = 0;    ///< signal_set, signal_add, and the signal of put_signal
};

/// @brief The operations of this PE on one PE: another PE or itself.
struct peer_stats {
  bool direct = true;        ///< the route: true for loads, stores and copies, false for the proxy
  operation_counts host;     ///< operations that threads of the host called
  operation_counts streams;  ///< operations enqueued on streams; operations of a CUDA graph count once, at the capture
  /// @brief The commands that the proxy has received for the target PE from kernels, streams and host threads of this
  /// PE.
  ///
  /// A strided or long operation can be several commands. A list counts as one operation for each command, not for each
  /// block. signal_set() and signal_add() count as atomic operations
  /// here.
  operation_counts proxy;
  /// @brief Time since the last message of the control plane from the other PE, including heartbeats. -1: the PE is on
  /// this host, where the operating system reports the end of a process.
  std::chrono::milliseconds silence{-1};
};

/// @brief All calls with one name that wait for other PEs: collectives, allocations, quiet, waits, locks, synchronize.
///
/// Only the outermost call of a thread counts: a barrier_all() counts, but the quiet inside the barrier_all() does not.
struct call_stats {
  std::string name;         ///< name of the call, "pgas::barrier_all"
  std::uint64_t calls = 0;  ///< number of calls that have returned
  /// @brief Time that this PE has spent in calls with this name. The clock has a resolution of some milliseconds, so
  /// only averages are exact
  std::chrono::nanoseconds time{0};
  std::chrono::nanoseconds running{0};  ///< duration so far of the longest call in progress; 0: none
};

/// @brief The work of this PE's proxy; zero if all PEs are direct.
struct proxy_stats {
  std::uint64_t commands = 0;          ///< commands of kernels, streams and host threads, including fences and quiets
  std::uint64_t messages = 0;          ///< sent messages that contain operations
  std::uint64_t message_bytes = 0;     ///< bytes of these messages
  std::uint64_t acknowledgements = 0;  ///< messages sent without operations
  std::uint64_t message_ops = 0;       ///< operations executed for other PEs
  std::uint64_t early_messages = 0;    ///< messages received out of order
  std::uint64_t chunks = 0;            ///< chunks that the transport has written or read directly
  std::uint64_t chunk_bytes = 0;       ///< bytes of these chunks
};

/// @brief The statistics of a PE.
///
/// Loads and stores of kernels on direct PEs are not counted.
struct world_stats {
  int pe = 0;                             ///< the PE itself
  std::vector<peer_stats> peers;          ///< one entry for each PE, by number, including this PE
  std::vector<call_stats> calls;          ///< one entry for each name
  heap_usage heap;                        ///< memory of all PEs; during an allocation, the use before the allocation
  std::size_t heap_reserved = 0;          ///< the size of the address range of this PE's slot, in bytes
  proxy_stats proxy;                      ///< the proxy of this PE
  std::uint64_t heartbeats_sent = 0;      ///< heartbeats to PEs of other hosts
  std::uint64_t heartbeats_received = 0;  ///< heartbeats from PEs of other hosts
  /// @brief Time since a host thread of this PE was last in a call of this world.
  ///
  /// Short calls such as put do not read the clock. The time after a short call is therefore counted from the next time
  /// when stats() or pgas-info reads the statistics.
  std::chrono::milliseconds idle{0};
  std::uint64_t errors = 0;    ///< number of failures and errors that this PE has logged
  std::uint64_t warnings = 0;  ///< number of warnings, also of those that PGAS_LOG suppressed
  bool failed = false;         ///< whether the world has failed

  /// @brief The fragmentation of the heap: 0 if all free memory is one range, close to 1 if it consists of many small
  /// ranges.
  [[nodiscard]] double fragmentation() const {
    const std::size_t free = heap.mapped - heap.used;
    return heap.mapped <= heap.used ? 0.0 : 1.0 - static_cast<double>(heap.largest_free) / static_cast<double>(free);
  }
};

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<peer_stats>
    : member_list<&peer_stats::direct, &peer_stats::host, &peer_stats::streams, &peer_stats::proxy,
                  &peer_stats::silence> {
  static constexpr const char* name = "peer_stats";
};

template <>
struct [[gnu::visibility("hidden")]] members_of<call_stats>
    : member_list<&call_stats::name, &call_stats::calls, &call_stats::time, &call_stats::running> {
  static constexpr const char* name = "call_stats";
};

/// The library fills `peers` and `calls` separately.
template <>
struct [[gnu::visibility("hidden")]] members_of<world_stats>
    : member_list<&world_stats::pe, &world_stats::heap, &world_stats::heap_reserved, &world_stats::proxy,
                  &world_stats::heartbeats_sent, &world_stats::heartbeats_received, &world_stats::idle,
                  &world_stats::errors, &world_stats::warnings, &world_stats::failed> {
  static constexpr const char* name = "world_stats";
};
}  // namespace detail

}  // namespace pgas

#include "pgas/detail/names_end.inc"
