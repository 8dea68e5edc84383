/// @file
/// What a PE has counted since it joined, as world::stats() gives it and PGAS_METRICS serves it.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pgas/symmetric_memory.hpp"

namespace pgas {

/// Operations on one PE, and the bytes that they moved. put_signal() is a put and a signal. An operation of no bytes,
/// or one that threw, is none.
struct operation_counts {
  std::uint64_t puts = 0;       ///< put, p, iput, ibput, and the data of put_signal
  std::uint64_t put_bytes = 0;  ///< that they wrote
  std::uint64_t gets = 0;       ///< get, g, iget, ibget
  std::uint64_t get_bytes = 0;  ///< that they read
  std::uint64_t atomics = 0;    ///< atomic operations of every kind, those of locks among them
  std::uint64_t signals = 0;    ///< signal_set, signal_add, and the signal of put_signal
};

/// What this PE has done to one PE, which may be itself.
struct peer_stats {
  bool direct = true;        ///< the route: load, store and copies, else the proxy
  operation_counts host;     ///< operations that threads of the host called
  operation_counts streams;  ///< enqueued on streams; those of a CUDA graph count once, when it is captured
  /// Commands that this PE's proxy took for that one: of its kernels, its streams and its host threads. A strided or
  /// long operation can be several; signal_set() and signal_add() are atomic operations here.
  operation_counts proxy;
  /// Since the last message of the control plane from it; heartbeats are such messages. -1: it is on this host, where
  /// the kernel reports its end.
  std::chrono::milliseconds silence{-1};
};

/// Calls of one name that wait for other PEs: collectives, allocations, quiet, waits, locks, synchronize. The outermost
/// call of a thread counts: a barrier_all() counts as such, and not as the quiet in it.
struct call_stats {
  std::string name;                     ///< of the call, "pgas::barrier_all"
  std::uint64_t calls = 0;              ///< that have ended
  std::chrono::nanoseconds time{0};     ///< in them. A clock of some milliseconds: right on average, not for one call
  std::chrono::nanoseconds running{0};  ///< the longest that has not ended, so far; 0: there is none
};

/// What this PE's proxy has done; zero where all PEs are direct.
struct proxy_stats {
  std::uint64_t commands = 0;          ///< taken from kernels, streams and host threads, fences and quiets too
  std::uint64_t messages = 0;          ///< sent, with operations
  std::uint64_t message_bytes = 0;     ///< in them
  std::uint64_t acknowledgements = 0;  ///< sent without operations
  std::uint64_t message_ops = 0;       ///< executed for other PEs
  std::uint64_t early_messages = 0;    ///< received out of order
  std::uint64_t chunks = 0;            ///< put or got by the transport itself
  std::uint64_t chunk_bytes = 0;       ///< in them
};

/// All of it. What kernels do to direct PEs is not counted: it is loads and stores.
struct world_stats {
  int pe = 0;                             ///< this one
  std::vector<peer_stats> peers;          ///< by PE, this one among them
  std::vector<call_stats> calls;          ///< by name
  heap_usage heap;                        ///< of memory of all PEs; while an allocation is under way, as it was before
  std::size_t heap_reserved = 0;          ///< bytes of addresses of this PE's slot
  proxy_stats proxy;                      ///< of this PE
  std::uint64_t heartbeats_sent = 0;      ///< to PEs of other hosts
  std::uint64_t heartbeats_received = 0;  ///< from them
  /// Since a host thread of this PE was last in a call of this world. A second late at most with PGAS_METRICS; else
  /// short calls, such as put, are noticed only when this is asked.
  std::chrono::milliseconds idle{0};
  std::uint64_t errors = 0;    ///< failures and errors that this PE has logged
  std::uint64_t warnings = 0;  ///< that it has logged, or has not because of PGAS_LOG
  bool failed = false;         ///< the world has ended for everyone

  /// 0: all free memory of the heap is one piece; towards 1: it is in ever smaller ones.
  [[nodiscard]] double fragmentation() const {
    const std::size_t free = heap.mapped - heap.used;
    return heap.mapped <= heap.used ? 0.0 : 1.0 - static_cast<double>(heap.largest_free) / static_cast<double>(free);
  }
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
