/// @file
/// Teams: subsets of a world's PEs, each in an order of its own. Collectives run over a team, several teams at once;
/// contexts made from a team take its PE numbers.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "pgas/device/direct_context.hpp"
#include "pgas/symmetric_memory.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

namespace detail {
class team_state;
class world_state;
}  // namespace detail

/// How a team is made.
struct team_config {
  /// How many collectives of the team may run at once on the device, each on a channel of its own
  /// (team_view::channel()). Equal on all members.
  int channels = detail::default_channels;
  /// Memory for all-reduces that the host enqueues, 5 MiB of the heap of each member, as the world and the domain have
  /// it: with it those of up to 2 MiB divided by the members take one barrier or none, without it two from 8 KiB on.
  /// For GPU heaps and 2 to 64 members that reach each other by load and store; of others it is ignored. Equal on all
  /// members.
  bool staged = false;
};

/// A team of one world, as one of its members holds it. Move-only. PEs that are not members hold an empty one.
///
/// *Callers* one thread at a time for each team, unless a function says otherwise; different teams are independent.
/// *Memory* some cache lines for each member and channel, in the heap; released by destroy().
/// *Errors* functions of an empty team throw invalid_argument, those of a world that was left not_joined.
class PGAS_API team {
 public:
  /// An empty team.
  team() noexcept;
  /// Takes over the team; `other` is empty then.
  team(team&& other) noexcept;
  /// The same, after the steps of the destructor.
  team& operator=(team&& other) noexcept;
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  /// destroy(), without throwing. While an exception unwinds this PE it aborts the world instead of waiting for PEs
  /// that may never come; once the world has failed or was left it does nothing. The teams that a world has by itself
  /// end with it.
  ~team();

  /// Whether this PE is a member.
  [[nodiscard]] explicit operator bool() const noexcept;

  /// This PE's number in the team. *Callers* any thread.
  [[nodiscard]] int my_pe() const;
  /// How many members it has. *Callers* any thread.
  [[nodiscard]] int n_pes() const;
  /// The world's number of member `pe`. *Callers* any thread. *Errors* pe_out_of_range.
  [[nodiscard]] int world_pe(int pe) const;
  /// The number of member `pe` of this team in team `to` of the same world; -1 if it is not a member there. *Callers*
  /// any thread. *Errors* pe_out_of_range.
  [[nodiscard]] int translate_pe(int pe, const team& to) const;
  /// Its configuration. *Callers* any thread.
  [[nodiscard]] const team_config& config() const;
  /// The world that it belongs to.
  [[nodiscard]] std::shared_ptr<detail::world_state> world_state() const;

  /// The team as kernels take it.
  [[nodiscard]] team_view view() const;
  /// A context whose operations take this team's PE numbers: an ordering domain of its own. Free to make and to
  /// drop. *Callers* any thread.
  [[nodiscard]] pgas::context context() const;
  /// The same for kernels that need no other route than load and store, which compile to less.
  /// *Callers* any thread. *Errors* peer_unreachable, naming a PE: not all members are reached by load and store, at
  /// evenly spaced addresses. invalid_argument: the members are not evenly spaced in the world.
  [[nodiscard]] pgas::direct_context direct_context() const;

  /// Collective over this team: members start, start + stride, ... `size` of them; a stride may be negative.
  /// *On return* the new team on its members, an empty one on the others.
  /// *Errors* invalid_argument, asymmetric_call, out_of_memory: the same on all members of this team; nothing was made
  /// then.
  [[nodiscard]] team split_strided(int start, int stride, int size, const team_config& how = {}) const;
  /// Collective over this team: numbers its members row by row, `x_range` in a row; returns this PE's row and column.
  [[nodiscard]] std::pair<team, team> split_2d(int x_range, const team_config& x_how = {},
                                               const team_config& y_how = {}) const;
  /// Collective over this team: members with the same colour make a team, ordered by key, then by their number here. A
  /// member with a negative colour takes part in the call and gets an empty team.
  [[nodiscard]] team split(int color, int key, const team_config& how = {}) const;
  /// Collective over this team: a team of the listed members, in this order; the same list on all members.
  [[nodiscard]] team split_list(std::span<const int> members, const team_config& how = {}) const;
  /// Collective over `members` alone, this team's numbers in the order of the new one: the other PEs take no part and
  /// make no call. All members pass the same list.
  /// *Units* `key` is below 2^62 and the same on all members: teams that share a member and exist, or are made, at the
  /// same time have different keys. A key is free again after a barrier of all members behind the destruction of its
  /// team. *Callers* any thread, also several at once for different keys. *Errors* invalid_argument, out_of_memory;
  /// members that do not agree wait for one another.
  [[nodiscard]] team create_group(std::span<const int> members, std::uint64_t key, const team_config& how = {}) const;
  /// Collective over this team: waits for all members, then releases its state and its memory; the object is empty
  /// then. Kernels and streams that use the team must have ended. Does nothing for an empty team, or a team that a
  /// world has by itself.
  void destroy();

  /// Collective over this team: `count` objects of T on every member, at the same offset. PEs that are not members have
  /// no memory there: host operations on them throw outside_heap, device operations must not address them. Otherwise as
  /// world::allocate(). It is freed with the team; a symmetric<T> that is destroyed later does nothing.
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, initialize how = initialize::no,
                                      std::size_t alignment = alignof(T)) const {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), alignment, how));
    return symmetric<T>(world_state(), data, data != nullptr ? count : 0, state_);
  }
  /// allocate() without an owner: release it by free(). Null for 0 bytes.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size = 1, std::size_t alignment = 16,
                                     initialize how = initialize::no) const;
  /// Collective over this team: frees what its allocate_bytes() returned. Null is ignored. *Errors* invalid_free.
  void free(void* pointer) const;

  /// For the library's own functions. *Errors* invalid_argument for an empty team.
  [[nodiscard]] detail::team_state& state() const;

 private:
  friend class detail::world_state;
  explicit team(std::shared_ptr<detail::team_state> state) noexcept;
  std::shared_ptr<detail::team_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
