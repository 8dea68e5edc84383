#include "host/heap/team_segments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pgas::detail {

void windows::add(std::size_t offset, const link_group& group, std::vector<std::unique_ptr<shared_segment>> segments) {
  window added;
  added.members.assign(group.members().begin(), group.members().end());
  for (const auto& segment : segments) added.bytes += segment->bytes();
  added.segments = std::move(segments);
  const std::lock_guard lock(mutex_);
  windows_.emplace(offset, std::move(added));
  tell();
}

void windows::remove(std::size_t offset) noexcept {
  std::map<std::size_t, window>::node_type removed;
  {
    const std::lock_guard lock(mutex_);
    removed = windows_.extract(offset);
    tell();
  }
  if (removed) removed.mapped().segments.clear();
  space_.give_back(offset);
}

void windows::tell() const {
  if (on_change_)
    on_change_(begin_, windows_.empty() ? begin_ : windows_.rbegin()->first + windows_.rbegin()->second.bytes);
}

std::map<std::size_t, windows::window>::const_iterator windows::find(std::size_t offset) const {
  const auto after = windows_.upper_bound(offset);
  if (after == windows_.begin()) return windows_.end();
  const auto found = std::prev(after);
  return offset - found->first < found->second.bytes ? found : windows_.end();
}

bool windows::contains(std::size_t offset, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    const auto found = find(offset);
    if (found == windows_.end()) return false;
    const std::size_t here = found->second.bytes - (offset - found->first);
    if (bytes <= here) return true;
    offset += here;
    bytes -= here;
  }
}

bool windows::reaches(std::size_t offset, int pe) const {
  if (offset < begin_) return true;
  const std::lock_guard lock(mutex_);
  const auto found = find(offset);
  if (found == windows_.end()) return false;
  const std::vector<int>& members = found->second.members;
  return std::find(members.begin(), members.end(), pe) != members.end();
}

std::size_t windows::count() const {
  const std::lock_guard lock(mutex_);
  return windows_.size();
}

}  // namespace pgas::detail
