/// @file
/// The critical path: the chain of work and waits that led to the end of a time interval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/document.hpp"
#include "tools/pgas-trace/arrows.hpp"

namespace pgas_trace {

/// A part of the path: the work of a PE, or a step from one PE to another, by a signal or by a collective.
struct path_step {
  std::int32_t pe = 0;
  std::int32_t from = -1;  ///< the PE from which the path comes; -1: the PE worked
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string what;  ///< the call of `pe` that continued because of `from`
};

/// A time interval.
struct stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The interval between the last two barriers of all PEs, which is an iteration in most programs. In a trace with fewer
/// than two such barriers, the interval from the first event to the last event.
[[nodiscard]] stretch last_iteration(const pgas::trace::document& trace);

/// The path is followed from the end of the interval back in time, beginning at the PE that ended last. The path
/// continues at another PE in two cases: a signal of that PE ended a wait, and was sent after the wait had begun; or
/// that PE was the last PE in a collective. The steps are in the order of time.
[[nodiscard]] std::vector<path_step> critical_path(const pgas::trace::document& trace, const arrows& found,
                                                   const stretch& within);

}  // namespace pgas_trace
