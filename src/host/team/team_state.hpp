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
  /// Its view, with its oneshot_staging, if it has one: on channel 0.
  [[nodiscard]] static team_view view_of_world(const world_state& world);
  /// Clears what has to be zeros in a world's first allocation, of `n` PEs: enqueued.
  static void clear_memory_of_world(device& on, std::byte* first, int n);
  /// A team that the world has by itself: `members`, this PE among them. Its state lies at `offset` of the
  /// internal_area, its oneshot_staging, if it has one, at `staging`. Local; not to be used before all members have
  /// made it.
  [[nodiscard]] static std::unique_ptr<team_state> of_some(world_state& world, control_group::identity id,
                                                           std::vector<int> members, std::uint64_t offset,
                                                           std::uint64_t staging);
  /// Collective over `group`: a team of its members, with a state of zeros. Not to be used before a barrier of the
  /// members. *Errors* out_of_memory, the same on all members.
  team_state(std::shared_ptr<world_state> world, std::unique_ptr<control_group> group, const team_config& how);
  ~team_state();
  team_state(const team_state&) = delete;
  team_state& operator=(const team_state&) = delete;

  [[nodiscard]] world_state& world() const noexcept { return world_; }
  [[nodiscard]] std::shared_ptr<world_state> shared_world() const;
  /// Throws not_joined, the world's first failure, or invalid_argument for a team that was destroyed.
  void check() const;
  /// Throws unless pgas::direct_context stands for this team: its errors.
  void check_direct() const;
  /// The team on channel 0.
  [[nodiscard]] const team_view& view() const noexcept { return view_; }
  /// The team on the channel behind the last one, which is reserved for collectives that the host calls.
  [[nodiscard]] team_view host_view() const noexcept { return view_.channel(view_.n_channels()); }
  /// The context with the team's numbers of PEs.
  [[nodiscard]] pgas::context context() const;
  /// Where its copy lies, which code out of line reads.
  [[nodiscard]] const pgas::context* context_copy() const;
  /// Writes the copy, and lists the team among those of the world. For the teams of the world itself once the world
  /// knows its routes.
  void write_context(const pgas::context& ctx);
  /// The world's numbers of the members.
  [[nodiscard]] std::span<const int> members() const noexcept { return group_->members(); }
  [[nodiscard]] const team_config& config() const noexcept { return config_; }
  /// The members on the control plane, under collective_mutex().
  [[nodiscard]] const control_group& group() const noexcept { return *group_; }
  /// The memory of the members, under collective_mutex().
  [[nodiscard]] symmetric_allocator& memory() noexcept { return *memory_; }

  /// The only way to a collective on the device: enqueues `request` on a stream, on the channel of the host's
  /// collectives. They share the state of that channel, so each runs after the one before, whatever streams they are
  /// on. *Callers* any thread. *Errors* capturing where the stream can't wait for the collective before.
  void enqueue_collective(const collective_request& request, stream_handle on);
  /// A stream of the team's own, made at the first call: blocking collectives must not delay other threads' operations
  /// in the device's internal queue. *Callers* any thread.
  [[nodiscard]] stream_handle stream();
  /// One host-side collective of the team at a time.
  [[nodiscard]] std::mutex& collective_mutex() noexcept { return *mutex_; }

  /// The number of the next collective call in the trace, from 1.
  [[nodiscard]] std::uint64_t next_traced() noexcept { return traced_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Collective: waits for all members, then releases the team's memory. Does nothing for the teams of the world
  /// itself.
  void destroy();
  /// Not a collective: releases the team's memory; no member may use it any more.
  void release() noexcept;
  [[nodiscard]] bool released() const noexcept { return released_; }

 private:
  team_state(world_state& world, const control_group* group, std::unique_ptr<control_group> own, const team_view& view);
  void place_state();
  void place_staging();
  /// Writes the tables for kernels behind the state: the members' numbers where start and stride do not give them, and
  /// the hierarchy of domains where there are several.
  void write_members();
  void write_hierarchy();
  void clear_state();

  const std::shared_ptr<world_state> keep_;  ///< of a team that the world does not own itself
  world_state& world_;
  const std::unique_ptr<control_group> own_group_;
  const control_group* const group_;
  const team_config config_;
  team_view view_;
  std::unique_ptr<symmetric_allocator> own_memory_;
  symmetric_allocator* memory_ = nullptr;
  std::optional<std::size_t> state_offset_;  ///< in world_state::team_states(); none: it lies in own_memory_
  bool released_ = false;
  std::mutex own_mutex_;
  std::mutex* mutex_ = &own_mutex_;
  std::mutex stream_mutex_;
  stream_handle stream_ = nullptr;
  std::atomic<std::uint64_t> traced_{0};
  std::mutex order_mutex_;               ///< guards the rest, and what is enqueued between before() and after()
  std::unique_ptr<stream_order> order_;  ///< of the host's collectives
  grid_state* grid_ = nullptr;           ///< of their kernels
};

/// The arguments of one member. All members of the parent pass the same, but for colour and key.
struct split_call {
  static constexpr std::uint32_t expected_magic = 0x7465616d;
  enum class kind : std::uint16_t { strided = 1, colors = 2, list = 3, rows = 4, columns = 5 };

  std::uint32_t magic = expected_magic;
  kind what = kind::strided;
  std::uint16_t staged = 0;  ///< 1: team_config::staged
  std::int32_t start = 0;
  std::int32_t stride = 0;
  std::int32_t size = 0;  ///< of the team; of a row
  std::int32_t color = 0;
  std::int32_t key = 0;
  std::int32_t channels = 0;
  control_group::identity proposed = 0;  ///< the identity that this member proposes for the new team

  void configure(const team_config& how) {
    channels = how.channels;
    staged = how.staged ? 1 : 0;
  }
  [[nodiscard]] team_config config() const { return {channels, staged != 0}; }
};

/// Collective over `parent`: the new team that this member is in, null if it is in none.
/// @param list of kind::list.
/// *Errors* asymmetric_call, invalid_argument, out_of_memory: the same on all members of the parent; nothing was made
/// then.
[[nodiscard]] std::shared_ptr<team_state> split(team_state& parent, split_call mine, std::span<const int> list = {});

/// Collective over `members` of `parent` alone: the team of them. *Errors* as team::create_group().
[[nodiscard]] std::shared_ptr<team_state> make_group(team_state& parent, std::span<const int> members,
                                                     std::uint64_t key, const team_config& how);

}  // namespace pgas::detail
