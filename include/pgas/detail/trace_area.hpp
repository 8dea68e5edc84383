/// @file
/// Memory in which kernels that were compiled with PGAS_TRACE record their operations: rings of events that kernels
/// write and the host reads when the PE leaves the world.
#pragma once

#include "pgas/detail/failure_record.hpp"

namespace pgas::detail {

/// How an operation updates its word. The values are the values of pgas::trace::update.
enum class traced_update : std::uint16_t { none, set, add, other };

struct traced_event {
  std::uint64_t number;  ///< 1 + the number of earlier events in the ring; written last
  std::uint64_t begin;   ///< the value of clock_ns()
  std::uint64_t end;
  std::uint64_t bytes;
  std::uint64_t offset;  ///< the offset of the word that is updated or waited for; no_word: none
  std::uint64_t value;   ///< the value set or added, or the comparison value
  std::uint64_t seen;    ///< the value that ended the wait
  std::int32_t pe;       ///< the PE's number in the world; -1: no PE
  operation what;
  std::uint32_t block;  ///< the block of the group's leader
  std::uint32_t thread;
  std::int16_t compare;  ///< a pgas::cmp; -1: not a wait
  traced_update update;
};

/// The trace area: an array of rings. A warp writes to one ring, which it shares with few other warps. A full ring
/// loses its oldest events.
struct trace_area {
  static constexpr std::uint32_t rings = 64;
  static constexpr std::uint32_t ring_events = 4096;
  static constexpr std::uint64_t no_word = ~std::uint64_t{0};

  struct alignas(128) head {
    std::uint64_t next;  ///< the total number of events
  };
  /// Records one period out of every N, in full, so that related events appear together. A period is 2^20 ns.
  static constexpr unsigned log2_period_ns = 20;
  alignas(128) std::uint32_t every;
  head heads[rings];
  traced_event events[rings][ring_events];
};

}  // namespace pgas::detail
