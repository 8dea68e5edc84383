#include "host/heap/team_segment_map.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pgas::detail {

void team_segment_map::add(std::size_t offset, const control_group& group,
                           std::vector<std::unique_ptr<group_segment>> segments) {
  range added;
  added.members.assign(group.members().begin(), group.members().end());
  for (const auto& segment : segments) added.bytes += segment->bytes();
  added.segments = std::move(segments);
  const std::lock_guard lock(mutex_);
  ranges_.emplace(offset, std::move(added));
  report_bounds();
}

void team_segment_map::remove(std::size_t offset) noexcept {
  std::map<std::size_t, range>::node_type removed;
  {
    const std::lock_guard lock(mutex_);
    removed = ranges_.extract(offset);
    report_bounds();
  }
  if (removed) removed.mapped().segments.clear();
  space_.release(offset);
}

void team_segment_map::report_bounds() const {
  if (on_change_)
    on_change_(begin_, ranges_.empty() ? begin_ : ranges_.rbegin()->first + ranges_.rbegin()->second.bytes);
}

std::map<std::size_t, team_segment_map::range>::const_iterator team_segment_map::find(std::size_t offset) const {
  const auto after = ranges_.upper_bound(offset);
  if (after == ranges_.begin()) return ranges_.end();
  const auto found = std::prev(after);
  return offset - found->first < found->second.bytes ? found : ranges_.end();
}

bool team_segment_map::contains(std::size_t offset, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    const auto found = find(offset);
    if (found == ranges_.end()) return false;
    const std::size_t here = found->second.bytes - (offset - found->first);
    if (bytes <= here) return true;
    offset += here;
    bytes -= here;
  }
}

bool team_segment_map::peer_has(std::size_t offset, int pe) const {
  if (offset < begin_) return true;
  const std::lock_guard lock(mutex_);
  const auto found = find(offset);
  if (found == ranges_.end()) return false;
  const std::vector<int>& members = found->second.members;
  return std::find(members.begin(), members.end(), pe) != members.end();
}

std::size_t team_segment_map::count() const {
  const std::lock_guard lock(mutex_);
  return ranges_.size();
}

}  // namespace pgas::detail
