// The end of a world by one of its PEs: its reason, and the text of it.
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <optional>

#include "host/control/control_message.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

void world_state::abandon() noexcept {
  try {
    std::optional<error> recorded = recorded_failure();
    if (!recorded) {
      const std::lock_guard lock(timeout_mutex_);
      recorded = last_timeout_;
    }
    if (recorded) return fail(fmt::format("an exception ended its part in the world, after {}", recorded->what()));
  } catch (const std::exception&) {
    // No memory for a longer text.
  }
  fail("an exception ended its part in the world");
}

error world_state::with_stopped_pe(const error& timed_out) const {
  if (timed_out.code() != code::wait_timeout) return timed_out;
  const int stopped = control_plane_ ? control_plane_->stopped_pe() : -1;
  const std::lock_guard lock(timeout_mutex_);
  if (stopped < 0) return last_timeout_.emplace(timed_out);
  const peer_info& info = control_plane_->peer(stopped);
  return last_timeout_.emplace(
      timed_out.code(),
      fmt::format("{}; PE {} (host {}, pid {}) is stopped", text_of(timed_out), stopped, info.host, info.pid), stopped);
}

void world_state::abort(std::string_view reason) noexcept {
  fail(reason);  // first: the launcher may end the processes of the job at once
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
