/// @file
/// The tree along which the members of a group combine their contributions, and along which the messages of a world
/// travel.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace pgas::detail {

/// The members of a group by host: the same on all members.
struct group_layout {
  /// @param hosts the number of the host of each PE of the world; lives as long.
  group_layout(std::span<const int> all, std::span<const int> hosts);

  std::vector<int> members;  ///< in ascending order
  std::span<const int> hosts;
  std::vector<int> leaders;                  ///< the lowest member of each host, by position of the host
  std::unordered_map<int, int> position_of;  ///< of a host, in the order of lowest members
};

/// The lowest member of each host is its leader. The other members of a host are the leader's children, and leaders
/// form a tree of `arity` children each in the order of their hosts, with the lowest member as the root. All members
/// compute the same tree.
class group_tree {
 public:
  /// Few enough that a leader has little to send, and many enough that 10,000 hosts are five steps from the root.
  static constexpr int arity = 8;

  group_tree() = default;
  group_tree(std::shared_ptr<const group_layout> layout, int me);

  /// -1: this PE is the root.
  [[nodiscard]] int parent() const noexcept { return parent_; }
  /// Those of this host in ascending order, then leaders.
  [[nodiscard]] std::span<const int> children() const noexcept { return children_; }
  /// The child below which `pe` is, or which it is; -1 where `pe` is this PE, or not below it. `pe` is a member.
  [[nodiscard]] int child_towards(int pe) const;
  [[nodiscard]] bool on_host_of_this(int pe) const {
    return layout_->hosts[static_cast<std::size_t>(pe)] == layout_->hosts[static_cast<std::size_t>(me_)];
  }
  /// The neighbour on the way to another member.
  [[nodiscard]] int next_hop(int pe) const {
    const int below = child_towards(pe);
    return below >= 0 ? below : parent_;
  }

 private:
  std::shared_ptr<const group_layout> layout_;
  int me_ = -1;
  int parent_ = -1;
  std::vector<int> children_;
  int position_ = -1;  ///< of this PE's host; -1 where it is no leader
};

}  // namespace pgas::detail
