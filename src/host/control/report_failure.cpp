// The report of a failure to the waiting threads of this PE, to its kernels, and to all other PEs.
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
    if (pe == me || !on_this_host(pe) || !peers[static_cast<std::size_t>(pe)].pid_is_valid_here) continue;
    std::string line;
    std::getline(std::ifstream(fmt::format("/proc/{}/stat", peers[static_cast<std::size_t>(pe)].pid)), line);
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
    // Every PE passes a failure on. Otherwise a peer could see the end of this PE before it receives the cause.
    const std::lock_guard order(sending);
    links->send_to_neighbours(message_of(message_kind::failure, me, all_pes, encode_error(cause)));
    if (cause.code() != code::peer_lost || cause.pe() < 0) return;
    group_exchange::messages out;
    {
      const std::lock_guard lock(mutex);
      for (auto& [id, one] : groups) one.lose(cause.pe(), out);
    }
    deliver(out);
  } catch (const std::exception& why) {
    log.warn("while telling the other PEs of a failure: {}", why.what());
  }
  changed.notify_all();
}

void control_plane_state::deliver(const group_exchange::messages& all) {
  for (const outgoing_message& one : all) links->send(one);
}

}  // namespace pgas::detail
