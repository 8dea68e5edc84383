#include "host/watch/stream_log.hpp"

#include <exception>
#include <utility>

namespace pgas::detail {

stream_log::entry& stream_log::next(kind what, std::uint64_t stream) {
  if (!entries_) entries_ = std::make_unique<std::array<entry, length>>();
  entry& item = (*entries_)[++last_ % length];
  item = {what, stream, last_, 0, {}};
  if (what != kind::write) {
    std::erase_if(last_waits_, [this](const auto& each) { return each.second + length <= last_; });
    last_waits_[stream] = last_;
    any_.store(true, std::memory_order_relaxed);
  }
  return item;
}

bool stream_log::waits(std::uint64_t stream) const {
  const auto found = last_waits_.find(stream);
  return found != last_waits_.end() && found->second + length > last_;
}

wait_ticket stream_log::add_wait(stream_handle stream) {
  if (stream == nullptr || device_.capturing(stream)) return {};
  const std::uint64_t number = device_.number_of(stream);
  const std::lock_guard lock(mutex_);
  if (last_ >= wait_ticket::most) {  // the numbers start again, and all entries are deleted
    entries_.reset();
    last_waits_.clear();
    last_ = 0;
  }
  return {static_cast<std::uint32_t>(next(kind::wait, number).number)};
}

void stream_log::add_collective(stream_handle stream, control_group::identity team) {
  if (stream == nullptr) return;
  const std::uint64_t number = device_.number_of(stream);
  const std::lock_guard lock(mutex_);
  next(kind::collective, number).team = team;
}

void stream_log::add_behind_wait(stream_handle stream, const write& item) noexcept {
  try {
    if (device_.capturing(stream)) return;
    const std::uint64_t number = device_.number_of(stream);
    const std::lock_guard lock(mutex_);
    if (waits(number)) next(kind::write, number).enqueued = item;
  } catch (const std::exception&) {
    // The device has failed. The next call of the program reports the failure.
  }
}

std::vector<stream_log::write> stream_log::behind(const entry& first) const {
  std::vector<write> found;
  for (std::uint64_t number = first.number + 1; number <= last_; ++number) {
    const entry& item = (*entries_)[number % length];
    if (item.what == kind::write && item.stream == first.stream) found.push_back(item.enqueued);
  }
  return found;
}

std::vector<stream_log::write> stream_log::behind(wait_ticket wait) const {
  const std::lock_guard lock(mutex_);
  if (!entries_ || wait.number == 0) return {};
  const entry& item = (*entries_)[wait.number % length];
  return item.what == kind::wait && item.number == wait.number ? behind(item) : std::vector<write>();
}

std::vector<stream_log::write> stream_log::behind_collective(control_group::identity team) const {
  const std::lock_guard lock(mutex_);
  if (!entries_) return {};
  const entry* last = nullptr;
  for (const entry& item : *entries_)
    if (item.what == kind::collective && item.team == team && (last == nullptr || item.number > last->number))
      last = &item;
  return last != nullptr ? behind(*last) : std::vector<write>();
}

}  // namespace pgas::detail
