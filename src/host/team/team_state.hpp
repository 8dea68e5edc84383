/// @file
/// The state of a pgas::team: its members, its view for kernels, and the parts of its host-called collectives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "host/team/split_call.hpp"
#include "pgas/team.hpp"

namespace pgas::detail {

class world_state;

/// A team as one PE uses it. After the PE has left the team's world, only world() and the destructor may be called.
class team_state {
 public:
  /// Makes the team of all PEs. Its state lies in the world's internal_area, and its memory is the heap.
  [[nodiscard]] static std::unique_ptr<team_state> of_world(world_state& world);
  /// The view of the team of all PEs on channel 0, with its oneshot_staging if it has one.
  [[nodiscard]] static team_view view_of_world(const world_state& world);
  /// Enqueues the zeros that a world of `n` PEs needs in its first allocation.
  static void clear_memory_of_world(device& on, std::byte* first, int n);
  /// Makes a team that the world itself needs, with the members `members`, including this PE. Its state lies at
  /// `offset` of the internal_area; its oneshot_staging, if it has one, at `staging`. Not collective. The team must not
  /// be used before all members have made it.
  [[nodiscard]] static std::unique_ptr<team_state> of_some(world_state& world, control_group::identity id,
                                                           std::vector<int> members, std::uint64_t offset,
                                                           std::uint64_t staging);
  /// Makes a team of the members of `group`, with a state of zeros. Collective over `group`. The team must not be used
  /// before a barrier of the members. *Errors* out_of_memory, the same on all members.
  team_state(std::shared_ptr<world_state> world, std::unique_ptr<control_group> group, const team_config& how);
  ~team_state();
  team_state(const team_state&) = delete;
  team_state& operator=(const team_state&) = delete;

  [[nodiscard]] world_state& world() const noexcept { return world_; }
  [[nodiscard]] std::shared_ptr<world_state> shared_world() const;
  /// Throws not_joined, the world's first failure, or invalid_argument for a team that was destroyed.
  void check() const;
  /// Throws unless pgas::direct_context supports this team.
  void check_direct() const;
  /// The team on channel 0.
  [[nodiscard]] const team_view& view() const noexcept { return view_; }
  /// The team on the channel that is reserved for collectives that the host calls. This channel follows the channels of
  /// the kernels.
  [[nodiscard]] team_view host_view() const noexcept { return view_.channel(view_.n_channels()); }
  /// The context with the PE numbers of the team.
  [[nodiscard]] pgas::context context() const;
  /// The address of a copy of context(), for code that is not inlined.
  [[nodiscard]] const pgas::context* context_copy() const;
  /// Writes the copy of the context, and adds the team to the teams of the world. For its own teams, the world calls
  /// this function when the routes are known.
  void write_context(const pgas::context& ctx);
  /// The members by their numbers in the world.
  [[nodiscard]] std::span<const int> members() const noexcept { return group_->members(); }
  [[nodiscard]] const team_config& config() const noexcept { return config_; }
  /// The members' group on the control plane. Used under collective_mutex().
  [[nodiscard]] const control_group& group() const noexcept { return *group_; }
  /// The memory of the members. Used under collective_mutex().
  [[nodiscard]] symmetric_allocator& memory() noexcept { return *memory_; }

  /// Enqueues a collective on a stream, on the channel of the host's collectives. Every collective on the device goes
  /// through this function. The collectives share the state of the channel, so each one runs after the previous one,
  /// even on different streams. *Callers* any thread. *Errors* capturing if the stream cannot wait for the previous
  /// collective.
  void enqueue_collective(const collective_request& request, stream_handle on);
  /// A stream that belongs to the team, made at the first call. Blocking collectives use it, so that they do not delay
  /// operations of other threads in the device's internal queue. *Callers* any thread.
  [[nodiscard]] stream_handle stream();
  /// A host-side collective of the team holds this lock, so that only one collective runs at a time.
  [[nodiscard]] std::mutex& collective_mutex() noexcept { return *mutex_; }

  /// The number of the next collective call in the trace, from 1.
  [[nodiscard]] std::uint64_t next_traced() noexcept { return traced_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Collective: waits for all members, then releases the team's memory. Has no effect on the teams of the world
  /// itself.
  void destroy();
  /// Releases the team's memory. Not collective. No member may use the memory any more.
  void release() noexcept;
  [[nodiscard]] bool released() const noexcept { return released_; }

 private:
  team_state(world_state& world, const control_group* group, std::unique_ptr<control_group> own, const team_view& view);
  void place_state();
  void place_staging();
  /// Writes tables for kernels behind the state. If start and stride do not describe the members, one table contains
  /// the members' numbers. If there are several domains, one table contains the hierarchy of domains.
  void write_members();
  void write_hierarchy();
  void clear_state();

  const std::shared_ptr<world_state> keep_;  ///< set if the world itself does not own the team
  world_state& world_;
  const std::unique_ptr<control_group> own_group_;
  const control_group* const group_;
  const team_config config_;
  team_view view_;
  std::unique_ptr<symmetric_allocator> own_memory_;
  symmetric_allocator* memory_ = nullptr;
  std::optional<std::size_t> state_offset_;  ///< in world_state::team_states(); empty: the state lies in own_memory_
  bool released_ = false;
  std::mutex own_mutex_;
  std::mutex* mutex_ = &own_mutex_;
  std::mutex stream_mutex_;
  stream_handle stream_ = nullptr;
  std::atomic<std::uint64_t> traced_{0};
  /// Guards the members below. Also held while work is enqueued between before() and after().
  std::mutex order_mutex_;
  std::unique_ptr<stream_order> order_;  ///< the order of the collectives that the host enqueues
  grid_state* grid_ = nullptr;           ///< the grid state of the kernels of the host's collectives
};

/// Makes the new team of this member; null if the member is in no team. Collective over `parent`.
/// @param list the members, for kind::list
/// *Errors* asymmetric_call, invalid_argument, out_of_memory: the same on all members of the parent; after an error no
/// member has a new team.
[[nodiscard]] std::shared_ptr<team_state> split(team_state& parent, const split_call& mine,
                                                std::span<const int> list = {});

/// Makes the team of `members` of `parent`. Collective over these members alone. *Errors* as team::create_group().
[[nodiscard]] std::shared_ptr<team_state> make_group(team_state& parent, std::span<const int> members,
                                                     std::uint64_t key, const team_config& how);

}  // namespace pgas::detail
