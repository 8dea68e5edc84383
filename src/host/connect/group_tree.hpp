/// @file
/// The tree of a group. The members combine their contributions along the tree of their group. Messages travel along
/// the tree of the world.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace pgas::detail {

/// The numbers from 0 to n - 1.
[[nodiscard]] std::vector<int> every_pe(std::size_t n);

/// The members of a group, grouped by host. All members have the same layout.
struct group_layout {
  /// @param hosts the number of the host of each PE of the world; must outlive the layout
  group_layout(std::span<const int> all, std::span<const int> hosts);
  /// The layout of all PEs.
  explicit group_layout(std::span<const int> hosts);

  std::vector<int> members;  ///< the members in ascending order
  std::span<const int> hosts;
  std::vector<int> leaders;                  ///< the lowest member of each host, indexed by the position of the host
  std::unordered_map<int, int> position_of;  ///< the position of a host; hosts are in the order of their lowest members
};

/// The lowest member of each host is the leader of the host. The other members of the host are the children of the
/// leader. Leaders form a tree with `arity` children each, in the order of their hosts. The lowest member is the root.
/// All members compute the same tree.
class group_tree {
 public:
  /// A leader has few children, so it sends few messages. With 8 children, 10,000 hosts are at most five steps from the
  /// root.
  static constexpr int arity = 8;

  group_tree() = default;
  group_tree(std::shared_ptr<const group_layout> layout, int me);

  /// The parent; -1 if this PE is the root.
  [[nodiscard]] int parent() const noexcept { return parent_; }
  /// The children: PEs of this host in ascending order, then leaders.
  [[nodiscard]] std::span<const int> children() const noexcept { return children_; }
  /// The child on the way down to member `pe`. The child can be `pe` itself. -1 if `pe` is this PE or is not below this
  /// PE.
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
  int position_ = -1;  ///< the position of this PE's host; -1 if this PE is not a leader
};

}  // namespace pgas::detail
