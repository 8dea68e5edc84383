#include "host/watch/team_list.hpp"

namespace pgas::detail {

namespace {

/// The two buffers of packets that follow an epoch word. The packets of a buffer are in the order of their senders.
struct packet_area {
  std::uint64_t epoch;   ///< the offset of the epoch word
  std::uint64_t buffer;  ///< the size of one buffer in bytes

  [[nodiscard]] std::uint64_t begin() const { return epoch + team_state_layout::line; }
  [[nodiscard]] bool contains(std::uint64_t offset) const { return offset - begin() < 2 * buffer; }
};

}  // namespace

void team_list::add(const void* key, control_group::identity id, const team_view& team, std::span<const int> members) {
  const std::lock_guard lock(mutex_);
  teams_.insert_or_assign(key, entry{id, team, {members.begin(), members.end()}});
}

void team_list::remove(const void* key) noexcept {
  const std::lock_guard lock(mutex_);
  teams_.erase(key);
}

std::optional<team_list::place> team_list::find(const failure_record& wait) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, team] : teams_)
    if (std::optional<place> found = find_in(team, wait)) return found;
  return std::nullopt;
}

std::optional<team_list::place> team_list::find_in(const entry& item, const failure_record& wait) {
  const std::int32_t n = item.team.n_pes();
  const std::int32_t channels = item.team.n_channels();
  const std::uint64_t parts = team_state_layout::channel_bytes(n);
  const std::uint64_t at = wait.heap_offset - item.team.state_offset_;
  if (at < parts * static_cast<std::uint64_t>(team_state_layout::parts(channels))) {
    const auto channel = static_cast<std::int32_t>(at / parts);
    std::optional<std::uint64_t> message;
    if (at % parts < team_state_layout::arrived(n)) message = wait.heap_offset;
    return place{item.id, item.members, channel, channel >= channels, -1, message};
  }
  const auto in = [&](const packet_area& area, std::int32_t channel) -> std::optional<place> {
    if (wait.bytes == 0 || !area.contains(wait.heap_offset)) return std::nullopt;
    const std::uint64_t in_buffer = (wait.heap_offset - area.begin()) % area.buffer;
    const std::uint64_t member = in_buffer / (2 * wait.bytes);
    const int sender = member < item.members.size() ? item.members[member] : -1;
    return place{item.id, item.members, channel, channel >= channels, sender, area.begin() + in_buffer};
  };
  for (const bool of_host : {false, true}) {
    if (n < 2) break;  // a team of one PE has no packets
    const packet_area area{item.team.state_offset_ + team_state_layout::packets(n, channels, of_host),
                           team_state_layout::packet_buffer_bytes(of_host)};
    if (auto found = in(area, of_host ? channels : 0)) return found;
  }
  for (std::int32_t block = 0; item.team.staging_offset_ != 0 && block < oneshot_staging::blocks; ++block) {
    const packet_area area{item.team.staging_offset_ + oneshot_staging::packets(block),
                           team_state_layout::packet_buffer_bytes(true)};
    if (auto found = in(area, channels + 1 + block)) return found;
  }
  return std::nullopt;
}

}  // namespace pgas::detail
