#include "host/control/group_tree.hpp"

#include <cstddef>

namespace pgas::detail {

group_tree::group_tree(std::span<const int> members, int me, std::span<const int> hosts) : me_(me), hosts_(hosts) {
  const auto host_of = [&](int pe) { return hosts_[static_cast<std::size_t>(pe)]; };
  for (const int pe : members)
    if (position_of_.try_emplace(host_of(pe), static_cast<int>(leaders_.size())).second) leaders_.push_back(pe);
  const int position = position_of_.at(host_of(me));
  const int leader = leaders_[static_cast<std::size_t>(position)];
  if (leader != me) {
    parent_ = leader;
    return;
  }
  position_ = position;
  if (position > 0) parent_ = leaders_[static_cast<std::size_t>((position - 1) / arity)];
  for (const int pe : members)
    if (pe != me && host_of(pe) == host_of(me)) children_.push_back(pe);
  for (std::size_t next = static_cast<std::size_t>(position) * arity + 1, i = 0; i < arity && next < leaders_.size();
       ++i, ++next)
    children_.push_back(leaders_[next]);
}

int group_tree::child_towards(int pe) const {
  if (pe == me_ || position_ < 0) return -1;
  if (on_host_of_this(pe)) return pe;
  for (int at = position_of_.at(hosts_[static_cast<std::size_t>(pe)]); at > position_; at = (at - 1) / arity)
    if ((at - 1) / arity == position_) return leaders_[static_cast<std::size_t>(at)];
  return -1;
}

}  // namespace pgas::detail
