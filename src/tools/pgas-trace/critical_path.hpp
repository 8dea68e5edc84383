/// @file
/// The critical path: the chain of work and waits that led to the end of a time interval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/document.hpp"
#include "tools/pgas-trace/arrows.hpp"

namespace pgas_trace {

/// A part of the path: work of a PE, or the transfer of a signal or a collective from one PE to another.
struct path_step {
  std::int32_t pe = 0;
  std::int32_t from = -1;  ///< the PE from which the path comes; -1: the PE worked
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string what;  ///< the call by which the path comes from `from`
};

/// A time interval.
struct stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The interval between the last two barriers of all PEs, which is an iteration in most programs. If there are fewer
/// than two such barriers, the interval from the first event to the last one.
[[nodiscard]] stretch last_iteration(const pgas::trace::document& of);

/// The path from the end of the interval back, beginning at the PE that ended last. The path continues at another PE in
/// two cases: a wait ended by a signal that was sent after the wait had begun, or the other PE was the last one in a
/// collective. The steps are in the order of time.
[[nodiscard]] std::vector<path_step> critical_path(const pgas::trace::document& of, const arrows& found,
                                                   const stretch& within);

}  // namespace pgas_trace
