/// @file
/// What stands behind a pgas::team: its members, its view for kernels, and what its host-called collectives need.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "pgas/team.hpp"

namespace pgas::detail {

class world_state;

/// One PE's part of a team. Once its world was left, only world() and the destructor may be used.
class team_state {
 public:
  /// A team that `world` has by itself; its state lies in the world's internal_area.
  /// @param mutex the one that collectives of this team's host side take turns by.
  team_state(world_state& world, const team_view& view, std::vector<int> members, std::mutex* mutex);
  ~team_state();
  team_state(const team_state&) = delete;
  team_state& operator=(const team_state&) = delete;

  [[nodiscard]] world_state& world() const noexcept { return world_; }
  [[nodiscard]] std::shared_ptr<world_state> shared_world() const;
  /// The team on channel 0.
  [[nodiscard]] const team_view& view() const noexcept { return view_; }
  /// The team on the channel behind the last one, which is reserved for what the host enqueues.
  [[nodiscard]] team_view library_view() const noexcept { return view_.channel(view_.n_channels()); }
  /// The world's numbers of the members.
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  [[nodiscard]] const team_config& config() const noexcept { return config_; }

  /// A stream of the team's own, made when first asked for: collectives that the host waits for must not stand in front of
  /// other threads' operations in the device's internal queue. *Callers* any thread.
  [[nodiscard]] stream_handle stream();
  /// One host-side collective of the team at a time.
  [[nodiscard]] std::mutex& collective_mutex() noexcept { return *mutex_; }

 private:
  world_state& world_;
  const team_view view_;
  const std::vector<int> members_;
  const team_config config_;
  std::mutex own_mutex_;
  std::mutex* const mutex_;
  std::mutex stream_mutex_;
  stream_handle stream_ = nullptr;
};

}  // namespace pgas::detail
