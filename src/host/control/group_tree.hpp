/// @file
/// The tree along which the members of a group combine their contributions, and along which the messages of a world
/// travel.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

namespace pgas::detail {

/// The first member of each host is its leader. The other members of a host are the leader's children, and leaders
/// form a tree of `arity` children each in the order of their hosts, with the first member as the root. All members
/// compute the same tree. *Complexity* members to make it, hosts to keep it.
class group_tree {
 public:
  /// Few enough that a leader has little to send, and many enough that 10,000 hosts are five steps from the root.
  static constexpr int arity = 8;

  group_tree() = default;
  /// @param hosts the number of the host of each PE of the world; lives as long as the tree.
  group_tree(std::span<const int> members, int me, std::span<const int> hosts);

  /// -1: this PE is the root.
  [[nodiscard]] int parent() const noexcept { return parent_; }
  /// In ascending order of their positions: those of this host, then leaders.
  [[nodiscard]] std::span<const int> children() const noexcept { return children_; }
  /// The child below which `pe` is, or which it is; -1 where `pe` is this PE, or not below it. `pe` is a member.
  [[nodiscard]] int child_towards(int pe) const;
  [[nodiscard]] bool on_host_of_this(int pe) const {
    return hosts_[static_cast<std::size_t>(pe)] == hosts_[static_cast<std::size_t>(me_)];
  }
  /// The neighbour on the way to another member.
  [[nodiscard]] int next_hop(int pe) const {
    const int below = child_towards(pe);
    return below >= 0 ? below : parent_;
  }

 private:
  int me_ = -1;
  int parent_ = -1;
  std::vector<int> children_;
  std::span<const int> hosts_;
  std::vector<int> leaders_;                  ///< by position of the host
  std::unordered_map<int, int> position_of_;  ///< of a host
  int position_ = -1;                         ///< of this PE's host; -1 where it is no leader
};

}  // namespace pgas::detail
