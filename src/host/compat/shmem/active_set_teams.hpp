/// @file
/// The teams behind active sets.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::compat {

/// The active sets of OpenSHMEM 1.4 as teams: PEs start, start + 2^log_stride, ..., given in each call. Makes the team
/// of a set on its first use, and keeps it.
///
/// *Callers* any thread of the PEs of a set, at the same point of their collective calls. Only the set's own lock is
/// held while its team is made, so that sets may first be used in any order that is valid for their collectives.
class active_set_teams {
 public:
  /// *Errors* invalid_argument for an invalid set, or one without this PE; those of team::create_group().
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
