/// @file
/// Where kernels that were compiled with PGAS_TRACE record what they do: rings of events that kernels write and the
/// host reads when the world is left.
#pragma once

#include "pgas/detail/failure_record.hpp"

namespace pgas::detail {

/// What an operation does to its word, as pgas::trace::update.
enum class traced_update : std::uint16_t { none, set, add, other };

struct traced_event {
  std::uint64_t number;  ///< 1 + how many its ring had before it; written last
  std::uint64_t begin;   ///< of clock_ns()
  std::uint64_t end;
  std::uint64_t bytes;
  std::uint64_t offset;  ///< of the word that is updated or awaited; no_word: there is none
  std::uint64_t value;   ///< that is set or added, or compared with
  std::uint64_t seen;    ///< that ended the wait
  std::int32_t pe;       ///< by its number in the world; -1: none
  operation what;
  std::uint32_t block;  ///< of the leader of the group
  std::uint32_t thread;
  std::int16_t compare;  ///< pgas::cmp; -1: it is no wait
  traced_update update;
};

/// A warp writes one ring, and shares it with few others. A full one loses its oldest events.
struct trace_area {
  static constexpr std::uint32_t rings = 64;
  static constexpr std::uint32_t ring_events = 4096;
  static constexpr std::uint64_t no_word = ~std::uint64_t{0};

  struct alignas(128) head {
    std::uint64_t next;  ///< how many events there were
  };
  /// Records one period out of every N, in full, so that related events appear together. A period is 2^20 ns.
  static constexpr unsigned log2_period_ns = 20;
  alignas(128) std::uint32_t every;
  head heads[rings];
  traced_event events[rings][ring_events];
};

}  // namespace pgas::detail
