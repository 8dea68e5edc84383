// Collectives on devices, as far as the control plane knows them: how many each PE has enqueued, and who leaves
// instead.
#include "host/control/device_collective.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// What a leaving PE contributes: the collectives of a group that it has enqueued.
struct enqueued_count {
  control_group::identity group;
  std::uint64_t count;
};

/// The count of a group in the contribution of a leaving PE; none where that PE does not know it.
std::optional<std::uint64_t> count_in(const blob& contributed, control_group::identity group) {
  for (std::size_t at = 0; at + sizeof(enqueued_count) <= contributed.size(); at += sizeof(enqueued_count)) {
    enqueued_count one{};
    std::memcpy(&one, contributed.data() + at, sizeof one);
    if (one.group == group) return one.count;
  }
  return std::nullopt;
}

}  // namespace

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

blob control_plane_state::enqueued_counts() const {
  std::vector<enqueued_count> all;
  const std::lock_guard lock(mutex);
  for (const auto& [group, count] : enqueued)
    if (count && (all.size() + 1) * sizeof(enqueued_count) <= max_contribution) all.push_back({group, *count});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

std::optional<control_plane_state::missing_member> control_plane_state::missing_leaver(
    const device_collective& one) const {
  const pending_collectives& of_all = groups.at(control_group::world);
  std::optional<missing_member> found;
  for (const int pe : groups.at(one.group_).members()) {
    const contribution* const end = pe == me ? nullptr : of_all.end_of(pe);
    if (end == nullptr) continue;
    const std::optional<std::uint64_t> theirs = count_in(end->bytes, one.group_);
    if (!theirs || !one.number_) {
      if (!found) found = missing_member{pe, false};
    } else if (*theirs < *one.number_) {
      return missing_member{pe, true};
    }
  }
  return found;
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
