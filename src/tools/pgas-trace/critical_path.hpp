/// @file
/// What the end of a stretch of time had to wait for, all the way back to its beginning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/document.hpp"
#include "tools/pgas-trace/arrows.hpp"

namespace pgas_trace {

/// A part of the path: a PE that worked, or the way of a signal or a collective from one PE to another.
struct path_step {
  std::int32_t pe = 0;
  std::int32_t from = -1;  ///< the PE before; -1: the PE worked
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string what;  ///< the call by which the path comes from there
};

/// A stretch of time.
struct stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// From the last barrier of all PEs but one to the last one, an iteration of most programs; without two of them from
/// the first event to the last one.
[[nodiscard]] stretch last_iteration(const pgas::trace::document& of);

/// From its end back, on the PE that ended last: where a wait there ended by a signal that was sent after it had begun,
/// or a collective in which another PE came last, the path goes on at that PE. The steps lie in the order of time.
[[nodiscard]] std::vector<path_step> critical_path(const pgas::trace::document& of, const arrows& found,
                                                   const stretch& within);

}  // namespace pgas_trace
