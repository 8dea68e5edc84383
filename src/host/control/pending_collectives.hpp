/// @file
/// Contributions to the collectives of one group as they come in, sorted by collective and by PE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "host/control/control_group.hpp"
#include "host/control/control_message.hpp"

namespace pgas::detail {

/// Keeps the contributions of the collectives that are under way. Members call them in the same order, so a number
/// identifies one; a PE may be ahead of another by as many as are kept, and even send its first before the other has
/// heard of the group. PEs have their numbers of the world here. Not thread-safe.
class pending_collectives {
 public:
  /// Who the group is. Nothing is complete before. *Errors* bootstrap_protocol if others have contributed.
  void set_members(std::span<const int> members);
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }

  /// The number of this PE's next collective.
  [[nodiscard]] std::uint64_t begin() noexcept { return next_++; }
  /// *Errors* bootstrap_protocol for a piece that is a duplicate, of a stranger, long past or too far ahead.
  void add(std::uint64_t sequence, int pe, collective call, contribution piece);
  [[nodiscard]] bool complete(std::uint64_t sequence) const;
  /// A PE that takes part in entries `sequence` with another call than `call`, and that call.
  struct mismatch {
    int pe;
    collective call;
  };
  [[nodiscard]] std::optional<mismatch> find_mismatch(std::uint64_t sequence, collective call) const;
  /// Whether every PE has called leave() as its entries `sequence`.
  [[nodiscard]] bool all_leave(std::uint64_t sequence) const;
  /// Whether `pe` waits in leave().
  [[nodiscard]] bool leaves(int pe) const;
  [[nodiscard]] std::vector<int> missing(std::uint64_t sequence) const;
  /// Takes a complete entries out, by member, and forgets it.
  [[nodiscard]] std::vector<contribution> take(std::uint64_t sequence);

 private:
  struct piece {
    collective call = collective::none;
    contribution content;
  };
  using entries = std::map<int, piece>;  ///< by PE
  static constexpr std::uint64_t max_ahead = 8;

  void check_member(int pe) const;

  std::vector<int> members_;
  std::uint64_t next_ = 0;   ///< the first that this PE has not begun
  std::uint64_t first_ = 0;  ///< rounds before this one are over
  std::map<std::uint64_t, entries> pending_;
};

}  // namespace pgas::detail
