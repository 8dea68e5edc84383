#include "host/heap/team_segments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pgas::detail {

void team_segments::add(std::size_t offset, const control_group& group,
                        std::vector<std::unique_ptr<shared_segment>> segments) {
  window added;
  added.members.assign(group.members().begin(), group.members().end());
  for (const auto& segment : segments) added.bytes += segment->bytes();
  added.segments = std::move(segments);
  const std::lock_guard lock(mutex_);
  team_segments_.emplace(offset, std::move(added));
  tell();
}

void team_segments::remove(std::size_t offset) noexcept {
  std::map<std::size_t, window>::node_type removed;
  {
    const std::lock_guard lock(mutex_);
    removed = team_segments_.extract(offset);
    tell();
  }
  if (removed) removed.mapped().segments.clear();
  space_.release(offset);
}

void team_segments::tell() const {
  if (on_change_)
    on_change_(begin_, team_segments_.empty() ? begin_
                                              : team_segments_.rbegin()->first + team_segments_.rbegin()->second.bytes);
}

std::map<std::size_t, team_segments::window>::const_iterator team_segments::find(std::size_t offset) const {
  const auto after = team_segments_.upper_bound(offset);
  if (after == team_segments_.begin()) return team_segments_.end();
  const auto found = std::prev(after);
  return offset - found->first < found->second.bytes ? found : team_segments_.end();
}

bool team_segments::contains(std::size_t offset, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    const auto found = find(offset);
    if (found == team_segments_.end()) return false;
    const std::size_t here = found->second.bytes - (offset - found->first);
    if (bytes <= here) return true;
    offset += here;
    bytes -= here;
  }
}

bool team_segments::reaches(std::size_t offset, int pe) const {
  if (offset < begin_) return true;
  const std::lock_guard lock(mutex_);
  const auto found = find(offset);
  if (found == team_segments_.end()) return false;
  const std::vector<int>& members = found->second.members;
  return std::find(members.begin(), members.end(), pe) != members.end();
}

std::size_t team_segments::count() const {
  const std::lock_guard lock(mutex_);
  return team_segments_.size();
}

}  // namespace pgas::detail
