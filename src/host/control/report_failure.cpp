// The report of a failure: to waiting threads of this PE, to its kernels, and to all other PEs.
#include <fmt/format.h>

#include <fstream>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

std::string control_plane_state::describe(int pe) const {
  const peer_info& info = peers[static_cast<std::size_t>(pe)];
  return fmt::format("PE {} (host {}, pid {})", pe, info.host, info.pid);
}

int control_plane_state::stopped_pe() const {
  for (int pe = 0; pe < n(); ++pe) {
    if (pe == me || !on_this_host(pe)) continue;
    const std::optional<socket_owner> owner_there = peer_credentials(connections[static_cast<std::size_t>(pe)]->fd());
    if (!owner_there || owner_there->pid <= 0) continue;
    std::string line;
    std::getline(std::ifstream(fmt::format("/proc/{}/stat", owner_there->pid)), line);
    const std::size_t name_end = line.rfind(") ");  // the state follows the name of the program
    if (name_end + 2 < line.size() && (line[name_end + 2] == 'T' || line[name_end + 2] == 't')) return pe;
  }
  return -1;
}

void control_plane_state::set_failure(const error& cause, log_level level) noexcept {
  {
    const std::lock_guard lock(mutex);
    if (failure || left) return;
    failure = cause;
  }
  try {
    if (on_failure) on_failure(cause);
  } catch (const std::exception& why) {
    log.warn("while telling of a failure: {}", why.what());
  }
  {
    const std::lock_guard lock(mutex);
    failed_at = clock::now();
    failed.store(true, std::memory_order_release);
  }
  changed.notify_all();
  const char* const text = cause.what();
  log.write(level, "{}", fmt::make_format_args(text));
  try {
    // Every PE passes a failure on: otherwise a peer could see this PE end before it receives the cause.
    broadcast(message_kind::failure, encode_error(cause), std::chrono::milliseconds(500));
  } catch (const std::exception& why) {
    log.warn("while telling the other PEs of a failure: {}", why.what());
  }
}

void control_plane_state::broadcast(message_kind kind, std::span<const std::byte> body,
                                    std::chrono::milliseconds timeout) {
  control_header header;
  header.kind = kind;
  header.bytes = body.size();
  const clock::time_point until = clock::now() + timeout;
  // A full queue belongs to a PE that is stopped, and must not delay the message to the others.
  for (const std::unique_ptr<connection>& to : connections)
    if (to)
      static_cast<void>(
          to->send_until(std::as_bytes(std::span(&header, 1)), body, {}, [until] { return clock::now() < until; }));
}

}  // namespace pgas::detail
