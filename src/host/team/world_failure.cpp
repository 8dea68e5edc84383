// How a PE ends its world for all, and what it says then.
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <optional>

#include "host/control/control_message.hpp"
#include "host/team/world_state.hpp"

namespace pgas::detail {

void world_state::abandon() noexcept {
  try {
    std::optional<error> recorded = recorded_failure();
    if (!recorded) {
      const std::lock_guard lock(late_mutex_);
      recorded = late_;
    }
    if (recorded) return fail(fmt::format("an exception ended its part in the world, after {}", recorded->what()));
  } catch (const std::exception&) {
    // No memory for more words.
  }
  fail("an exception ended its part in the world");
}

error world_state::with_stopped_pe(const error& late) const {
  if (late.code() != code::wait_timeout) return late;
  const int stopped = control_plane_ ? control_plane_->stopped_pe() : -1;
  const std::lock_guard lock(late_mutex_);
  if (stopped < 0) return late_.emplace(late);
  const peer_info& info = control_plane_->peer(stopped);
  return late_.emplace(
      late.code(), fmt::format("{}; PE {} (host {}, pid {}) is stopped", text_of(late), stopped, info.host, info.pid),
      stopped);
}

void world_state::abort(std::string_view reason) noexcept {
  fail(reason);  // first: the launcher may end all that it is told of
  if (bootstrap_) bootstrap_->abort(reason);
}

void world_state::check_process() const {
  if (forked())
    throw error(
        code::forked_process,
        fmt::format(
            "this is process {}, a forked child; the world belongs to process {}: join a world of its own, or exec",
            ::getpid(), process_.pid()));
}

}  // namespace pgas::detail
