/// @file
/// The active sets of OpenSHMEM 1.4 as teams: PEs start, start + 2^log_stride, ..., named with each call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::capi {

/// Makes the team of a set when it is first named, and keeps it.
///
/// *Callers* any thread, all PEs of a set for the same set at the same point, and nobody else. A set waits for its own
/// PEs alone: nothing is locked while it is made but the set itself, so sets may be first named in any order in which
/// their collectives could be called.
class active_sets {
 public:
  /// *Errors* invalid_argument for a set that is none, or without this PE; otherwise those of making a team.
  [[nodiscard]] const team& find(world& w, int start, int log_stride, int size);
  /// Forgets all. The world was left.
  void clear();

 private:
  struct entry {
    std::mutex making;
    team made;
  };
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::unique_ptr<entry>> entries_;
};

}  // namespace pgas::capi
