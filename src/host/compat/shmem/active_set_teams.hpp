/// @file
/// The teams that implement active sets.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The active sets of OpenSHMEM 1.4 as teams. Each call gives the PEs start, start + 2^log_stride, and so on. The team
/// of a set is made at its first use, and is kept.
///
/// *Callers* any thread of the PEs of a set, at the same point of their collective calls. Only the lock of the set is
/// held while its team is made, so sets may first be used in any order that is valid for their collectives.
class active_set_teams {
 public:
  /// *Errors* invalid_argument for an invalid set, or for a set without this PE; those of team::create_group().
  [[nodiscard]] const team& find(world& w, int start, int log_stride, int size);
  /// Drops all teams, after the world was left.
  void clear();

 private:
  struct entry {
    std::mutex making;
    team made;
  };
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::unique_ptr<entry>> entries_;
};

}  // namespace pgas::compat
