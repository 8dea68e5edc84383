// The control plane's part in collectives on devices: the number that each PE has enqueued, and the members that leave
// without one.
#include "host/control/device_collective.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <vector>

#include "host/control/control_plane_state.hpp"
#include "host/control/enqueued_counts.hpp"

namespace pgas::detail {

device_collective::device_collective(const control_group& group, const char* name)
    : state_(group.state()), group_(group.id()), name_(name) {
  bool leaves = false;
  {
    const std::lock_guard lock(state_.mutex);
    if (const std::optional<std::uint64_t> before = state_.enqueued.at(group_)) number_ = *before + 1;
    state_.on_devices.push_back(this);
    leaves = state_.missing_leaver(*this).has_value();
  }
  if (leaves && state_.loop) state_.loop->wake();
}

device_collective::~device_collective() {
  const std::lock_guard lock(state_.mutex);
  std::erase(state_.on_devices, this);
}

void control_plane_state::count_enqueued(control_group::identity group, bool captured) {
  const std::lock_guard lock(mutex);
  std::optional<std::uint64_t>& count = enqueued.at(group);
  if (captured)
    count.reset();
  else if (count)
    ++*count;
}

blob control_plane_state::own_counts() const {
  std::vector<enqueued_count> all;
  const std::lock_guard lock(mutex);
  for (const auto& [group, count] : enqueued)
    all.push_back(count ? enqueued_count{.group = group, .lowest = *count, .lowest_pe = me}
                        : enqueued_count{.group = group, .unknown_pe = me});
  return encode_counts(all);
}

std::optional<control_plane_state::missing_member> control_plane_state::missing_leaver(
    const device_collective& one) const {
  const group_exchange& of_all = groups.at(control_group::world);
  const std::optional<enqueued_count> theirs = count_of(of_all.counts_of_leavers(), one.group_);
  if (!theirs) {
    const std::vector<int> leavers = of_all.leavers();
    for (const int pe : leavers.empty() ? std::span<const int>() : groups.at(one.group_).members())
      if (pe != me && std::ranges::binary_search(leavers, pe)) return missing_member{pe, false};
    return std::nullopt;
  }
  const int counted = theirs->lowest_pe == me ? -1 : theirs->lowest_pe;
  const int unknown = theirs->unknown_pe == me ? -1 : theirs->unknown_pe;
  if (one.number_ && counted >= 0 && theirs->lowest < *one.number_) return missing_member{counted, true};
  if (!one.number_ && counted >= 0) return missing_member{counted, false};
  if (unknown >= 0) return missing_member{unknown, false};
  return std::nullopt;
}

void control_plane_state::check_leavers() {
  std::optional<error> found;
  {
    const std::lock_guard lock(mutex);
    if (failure) return;
    const clock::time_point now = clock::now();
    for (device_collective* const each : on_devices) {
      const std::optional<missing_member> missing = missing_leaver(*each);
      if (!missing) {
        each->leaves_since_.reset();
        continue;
      }
      if (!each->leaves_since_) each->leaves_since_ = now;
      if (missing->certain || now >= *each->leaves_since_ + join_timeout)
        found = left_early(missing->pe, me, each->name_);
    }
  }
  if (found) set_failure(*found, origin::here);
}

}  // namespace pgas::detail
