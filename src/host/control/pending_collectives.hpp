/// @file
/// Contributions to the collectives of one group as they come in, sorted by collective and by PE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/deadline.hpp"
#include "host/control/control_group.hpp"
#include "host/control/control_message.hpp"

namespace pgas::detail {

/// Keeps the contributions to collectives until they are complete. Members make the calls in the same order, so a
/// number identifies a collective. A member may be ahead of another by max_ahead collectives, and may contribute before
/// another has made the group. PEs have their numbers of the world. Not thread-safe.
class pending_collectives {
 public:
  /// The members of the group; nothing is complete before. *Errors* bootstrap_protocol if another PE has contributed.
  void set_members(std::span<const int> members);
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }

  /// The number of this PE's next collective.
  [[nodiscard]] std::uint64_t begin() noexcept {
    began_ = clock::now();
    return next_++;
  }
  /// The collective that this PE waits in, if it is in one: its number, its call, and since when.
  struct own_wait {
    std::uint64_t sequence;
    collective call;
    clock::time_point since;
  };
  [[nodiscard]] std::optional<own_wait> wait_of(int me) const;
  /// *Errors* bootstrap_protocol for a contribution that is a duplicate, of a PE outside the group, late, or too far
  /// ahead.
  void add(std::uint64_t sequence, int pe, collective call, contribution content);
  [[nodiscard]] bool complete(std::uint64_t sequence) const;
  /// A PE that contributes to collective `sequence` with another call than `call`, and that call.
  struct mismatch {
    int pe;
    collective call;
  };
  [[nodiscard]] std::optional<mismatch> find_mismatch(std::uint64_t sequence, collective call) const;
  /// Whether every PE has called leave() as its collective `sequence`.
  [[nodiscard]] bool all_leave(std::uint64_t sequence) const;
  /// What `pe` has contributed to await_leave() or leave(), in which it waits; null if it is in neither.
  [[nodiscard]] const contribution* end_of(int pe) const;
  [[nodiscard]] std::vector<int> missing(std::uint64_t sequence) const;
  /// Removes a complete collective and gives its contributions, by member.
  [[nodiscard]] std::vector<contribution> take(std::uint64_t sequence);

 private:
  struct entry {
    collective call = collective::none;
    contribution content;
  };
  using entries = std::map<int, entry>;  ///< by PE
  static constexpr std::uint64_t max_ahead = 8;

  void check_member(int pe) const;

  std::vector<int> members_;
  std::uint64_t next_ = 0;   ///< the first that this PE has not begun
  std::uint64_t first_ = 0;  ///< collectives before this one are over
  clock::time_point began_;  ///< when this PE began its last one
  std::map<std::uint64_t, entries> pending_;
};

}  // namespace pgas::detail
