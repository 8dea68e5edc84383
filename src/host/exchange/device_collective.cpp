#include "host/exchange/device_collective.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "host/exchange/enqueued_counts.hpp"
#include "host/exchange/exchange_service.hpp"

namespace pgas::detail {

device_collective::device_collective(const control_group& group, const char* name)
    : exchanges_(group.exchanges()), group_(group.id()), name_(name) {
  exchanges_.add(*this);
}

device_collective::~device_collective() { exchanges_.remove(*this); }

std::optional<device_collective::missing_member> device_collective::missing(
    const std::map<control_group::identity, group_exchange>& groups, int me) const {
  const group_exchange& of_all = groups.at(control_group::world);
  const std::optional<enqueued_count> theirs = count_of(of_all.counts_of_leavers(), group_);
  if (!theirs) {
    const std::vector<int> leavers = of_all.leavers();
    for (const int pe : leavers.empty() ? std::span<const int>() : groups.at(group_).members())
      if (pe != me && std::ranges::binary_search(leavers, pe)) return missing_member{pe, false};
    return std::nullopt;
  }
  const int counted = theirs->lowest_pe == me ? -1 : theirs->lowest_pe;
  const int unknown = theirs->unknown_pe == me ? -1 : theirs->unknown_pe;
  if (number_ && counted >= 0 && theirs->lowest < *number_) return missing_member{counted, true};
  if (!number_ && counted >= 0) return missing_member{counted, false};
  if (unknown >= 0) return missing_member{unknown, false};
  return std::nullopt;
}

}  // namespace pgas::detail
