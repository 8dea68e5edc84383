#include "host/share/carried_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/share/timeline_state.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

std::shared_ptr<timeline_state> open_on_host(const ticket& which, const deadline& limit) {
  open_options options;
  options.timeout = limit.left();
  options.place = memory_place::host();
  return timeline_state::open(which, options);
}

}  // namespace

carried_timeline::carried_timeline(const ticket& which, memory_place used_on, const deadline& limit)
    : who_(name_of(which.exporter)), used_on_(used_on), on_host_(open_on_host(which, limit)) {}

std::uint64_t carried_timeline::awaited() const { return std::max(on_host_->recorded(), std::uint64_t{1}); }

timeline_state& carried_timeline::for_streams() {
  on_host_->check_process();
  const std::lock_guard lock(mutex_);
  if (!on_device_)
    on_device_ =
        on_host_->again(used_on_ == memory_place::host() ? std::nullopt : std::optional<memory_place>(used_on_));
  return *on_device_;
}

void carried_timeline::wait(void* stream) {
  timeline_state& timeline = for_streams();
  timeline.wait(stream, awaited());
}

void carried_timeline::wait_host(std::chrono::milliseconds timeout) {
  on_host_->check_process();
  const std::uint64_t value = awaited();
  try {
    on_host_->wait_host(value, timeout);
  } catch (const error& failed) {
    if (failed.code() != code::wait_timeout) throw;
    if (on_host_->recorded() == 0)
      throw error(
          code::wait_timeout,
          fmt::format("{} has not recorded anything in the timeline of its memory within {} ms: it may not have filled "
                      "the memory yet, or it records in another timeline than its ticket_options::ready",
                      who_, timeout.count()));
    throw error(
        code::wait_timeout,
        fmt::format("the memory of {} is not ready after {} ms: the last record of the memory's timeline is {}, its "
                    "value is {}. The stream of the exporter may be busy or blocked; raise the timeout, or open the "
                    "memory without waiting (open_options::wait_until_ready) and wait on a stream",
                    who_, timeout.count(), value, on_host_->query()));
  }
}

void carried_timeline::check() const { on_host_->check_waits(); }

}  // namespace pgas::detail
