#include "host/connect/group_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace pgas::detail {

std::vector<int> every_pe(std::size_t n) {
  std::vector<int> pes(n);
  std::iota(pes.begin(), pes.end(), 0);
  return pes;
}

group_layout::group_layout(std::span<const int> all, std::span<const int> hosts_of_pes)
    : members(all.begin(), all.end()), hosts(hosts_of_pes) {
  std::ranges::sort(members);  // so that the tree does not depend on the order of `all`
  for (const int pe : members)
    if (position_of.try_emplace(hosts[static_cast<std::size_t>(pe)], static_cast<int>(leaders.size())).second)
      leaders.push_back(pe);
}

group_layout::group_layout(std::span<const int> hosts_of_pes)
    : group_layout(every_pe(hosts_of_pes.size()), hosts_of_pes) {}

group_tree::group_tree(std::shared_ptr<const group_layout> layout, int me) : layout_(std::move(layout)), me_(me) {
  const std::vector<int>& leaders = layout_->leaders;
  const int position = layout_->position_of.at(layout_->hosts[static_cast<std::size_t>(me)]);
  const int leader = leaders[static_cast<std::size_t>(position)];
  if (leader != me) {
    parent_ = leader;
    return;
  }
  position_ = position;
  if (position > 0) parent_ = leaders[static_cast<std::size_t>((position - 1) / arity)];
  for (const int pe : layout_->members)
    if (pe != me && on_host_of_this(pe)) children_.push_back(pe);
  for (std::size_t next = static_cast<std::size_t>(position) * arity + 1, i = 0; i < arity && next < leaders.size();
       ++i, ++next)
    children_.push_back(leaders[next]);
}

int group_tree::child_towards(int pe) const {
  if (pe == me_ || position_ < 0) return -1;
  if (on_host_of_this(pe)) return pe;
  for (int at = layout_->position_of.at(layout_->hosts[static_cast<std::size_t>(pe)]); at > position_;
       at = (at - 1) / arity)
    if ((at - 1) / arity == position_) return layout_->leaders[static_cast<std::size_t>(at)];
  return -1;
}

}  // namespace pgas::detail
