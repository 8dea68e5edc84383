/// @file
/// What stands behind a pgas::team: its members, its view for kernels, and what its host-called collectives need.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "pgas/team.hpp"

namespace pgas::detail {

class world_state;

/// One PE's part of a team. Once its world was left, only world() and the destructor may be used.
class team_state {
 public:
  /// The team of all PEs: its state lies in the world's internal_area, its memory is the heap.
  [[nodiscard]] static std::unique_ptr<team_state> of_world(world_state& world);
  /// A team that the world has by itself: `members`, among which this PE is, whose state lies at `offset` of the
  /// internal_area, and its oneshot_staging, if it has one, at `pushes`. Local; nobody may use it before all members
  /// have made it.
  [[nodiscard]] static std::unique_ptr<team_state> of_some(world_state& world, control_group::identity id,
                                                           std::vector<int> members, std::uint64_t offset,
                                                           std::uint64_t pushes);
  /// Collective over `group`: a team of its members, with a state of zeros that nobody may use before all are told that
  /// everyone has it. *Errors* out_of_memory, the same on all members.
  team_state(std::shared_ptr<world_state> world, std::unique_ptr<control_group> group, const team_config& how);
  ~team_state();
  team_state(const team_state&) = delete;
  team_state& operator=(const team_state&) = delete;

  [[nodiscard]] world_state& world() const noexcept { return world_; }
  [[nodiscard]] std::shared_ptr<world_state> shared_world() const;
  /// Throws not_joined, the world's first failure, or invalid_argument for a team that was destroyed.
  void check() const;
  /// The team on channel 0.
  [[nodiscard]] const team_view& view() const noexcept { return view_; }
  /// The team on the channel behind the last one, which is reserved for what the host enqueues.
  [[nodiscard]] team_view host_view() const noexcept { return view_.channel(view_.n_channels()); }
  /// The world's numbers of the members.
  [[nodiscard]] std::span<const int> members() const noexcept { return group_->members(); }
  [[nodiscard]] const team_config& config() const noexcept { return config_; }
  /// What members tell one another on the host, under collective_mutex().
  [[nodiscard]] const control_group& group() const noexcept { return *group_; }
  /// What members allocate from, under collective_mutex().
  [[nodiscard]] symmetric_allocator& memory() noexcept { return *memory_; }

  /// A stream of the team's own, made when first asked for: collectives that the host waits for must not stand in front
  /// of other threads' operations in the device's internal queue. *Callers* any thread.
  [[nodiscard]] stream_handle stream();
  /// One host-side collective of the team at a time.
  [[nodiscard]] std::mutex& collective_mutex() noexcept { return *mutex_; }

  /// Collective: waits for all members, then gives back what the team has. Nothing for the teams of the world itself.
  void destroy();
  /// Not a collective: gives back what the team has; no member may use it any more.
  void release() noexcept;
  [[nodiscard]] bool given_back() const noexcept { return given_back_; }

 private:
  team_state(world_state& world, const control_group* group, std::unique_ptr<control_group> own, const team_view& view);
  void place_state();
  /// Writes what kernels look up behind the state: the members' numbers where arithmetic does not give them, and which
  /// of them reach each other where not all do.
  void list_members();
  void plan_domains();
  void clear_state();

  const std::shared_ptr<world_state> keep_;  ///< of a team that the world does not own itself
  world_state& world_;
  const std::unique_ptr<control_group> own_group_;
  const control_group* const group_;
  const team_config config_;
  team_view view_;
  std::unique_ptr<symmetric_allocator> own_memory_;
  symmetric_allocator* memory_ = nullptr;
  std::optional<std::size_t> state_offset_;  ///< where it lies among the world's states of teams
  bool given_back_ = false;
  std::mutex own_mutex_;
  std::mutex* mutex_ = &own_mutex_;
  std::mutex stream_mutex_;
  stream_handle stream_ = nullptr;
};

}  // namespace pgas::detail
