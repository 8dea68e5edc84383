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

/// The active sets of OpenSHMEM 1.4 as teams. The PEs of a set are start, start + 2^log_stride, and so on. The first
/// use of a set makes its team, and later uses find the team here.
///
/// *Callers* any thread; all PEs of a set must call at the same point of their sequence of collective calls. While a
/// team is made, only the lock of its set is held. Sets may therefore be used for the first time in any order that is
/// valid for their collectives.
class active_set_teams {
 public:
  /// *Errors* invalid_argument for an invalid set, or for a set without this PE; those of team::create_group().
  [[nodiscard]] const team& find(world& w, int start, int log_stride, int size);
  /// Drops all teams, after the world was left.
  void clear();

 private:
  struct entry {
    std::mutex making;
    team group;
  };
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, std::unique_ptr<entry>> entries_;
};

}  // namespace pgas::compat
