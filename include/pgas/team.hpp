/// @file
/// Teams: ordered subsets of a world's PEs. A collective runs over a team, and several teams may run collectives at the
/// same time. A context of a team takes the PE numbers of the team.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "pgas/detail/struct_members.hpp"
#include "pgas/device/direct_context.hpp"
#include "pgas/symmetric_memory.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

namespace detail {
class team_state;
class world_state;
/// Implements the destructor of `team`. `exceptions` is the number of exceptions in flight on the calling thread.
PGAS_API void destroy_or_abandon(team_state& team, int exceptions) noexcept;
}  // namespace detail

/// @brief The configuration of a new team.
struct team_config {
  /// @brief The number of collectives of the team that may run on the device at the same time, each on its own channel
  /// (team_view::channel()).
  ///
  /// Equal on all members.
  int channels = detail::default_channels;
  /// @brief Whether the team has staging memory for all-reduces that the host enqueues: 5 MiB of the heap of each
  /// member.
  ///
  /// The teams of the world and the domain have staging memory. With staging memory, an all-reduce of up to 2 MiB / n
  /// in a team of n members takes at most one barrier. Without staging memory, an all-reduce of more than 8 KiB / n in
  /// a team of n members takes two barriers. Only teams of 2 to 64 direct peers on GPU heaps use this setting; other
  /// teams ignore it. Equal on all members.
  bool staged = false;
};

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<team_config>
    : member_list<&team_config::channels, &team_config::staged> {
  static constexpr const char* name = "team_config";
};
}  // namespace detail

/// @brief A team of one world, on one of its members.
///
/// Move-only. PEs that are not members hold an empty team.
///
/// *Callers* one thread at a time for each team, unless a function says otherwise; different teams are independent.
/// *Memory* some cache lines of the heap for each member and channel; destroy() releases this memory.
/// *Errors* functions of an empty team throw invalid_argument; functions of a team throw not_joined after leave().
class PGAS_API team {
 public:
  /// @brief An empty team.
  team() noexcept;
  /// @brief Moves the team.
  ///
  /// `other` is empty afterwards.
  team(team&& other) noexcept;
  /// @brief Destroys the current team as the destructor does, then moves the team.
  [[gnu::visibility("hidden")]] team& operator=(team&& other) noexcept {
    team moved(std::move(other));
    state_.swap(moved.state_);
    return *this;
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  /// @brief Calls destroy() without throwing.
  ///
  /// If an exception unwinds this PE, the destructor aborts the world, because other PEs might never call the
  /// destructor. The destructor does nothing after world::leave(), or after the world has failed. The world destroys
  /// the teams that it owns.
  [[gnu::visibility("hidden")]] ~team() {
    if (state_) detail::destroy_or_abandon(*state_, std::uncaught_exceptions());
  }

  /// @brief Whether this PE is a member of the team.
  [[nodiscard]] explicit operator bool() const noexcept;

  /// @brief This PE's number in the team.
  ///
  /// *Callers* any thread.
  [[nodiscard]] int my_pe() const;
  /// @brief The number of members.
  ///
  /// *Callers* any thread.
  [[nodiscard]] int n_pes() const;
  /// @brief The number of member `pe` in the world.
  ///
  /// *Callers* any thread.
  ///
  /// @throws error pe_out_of_range.
  [[nodiscard]] int world_pe(int pe) const;
  /// @brief The number of member `pe` of this team in team `to` of the same world; -1 if the PE is not a member of
  /// `to`.
  ///
  /// *Callers* any thread.
  ///
  /// @throws error pe_out_of_range.
  [[nodiscard]] int translate_pe(int pe, const team& to) const;
  /// @brief The configuration.
  ///
  /// *Callers* any thread.
  [[nodiscard]] const team_config& config() const;
  /// @brief The world of the team.
  [[nodiscard]] std::shared_ptr<detail::world_state> world_state() const;

  /// @brief The view of the team for kernels.
  ///
  /// @throws error version_mismatch as context().
  [[nodiscard, gnu::visibility("hidden")]] team_view view() const {
    team_view result;
    fill_view(result, detail::context_layout);
    return result;
  }
  /// @brief A context whose operations take this team's PE numbers.
  ///
  /// The context has its own order of operations. Creating and dropping a context costs nothing.
  ///
  /// *Callers* any thread.
  ///
  /// @throws error version_mismatch if the layout of contexts differs between the program's headers and the library.
  [[nodiscard, gnu::visibility("hidden")]] pgas::context context() const {
    pgas::context result;
    fill_context(result, detail::context_layout, false);
    return result;
  }
  /// @brief The context for kernels that need only loads and stores.
  ///
  /// With this context, kernels compile to fewer instructions.
  ///
  /// *Callers* any thread.
  ///
  /// @throws error peer_unreachable, naming a PE: loads and stores do not reach all members at evenly spaced addresses.
  /// invalid_argument: the members are not evenly spaced in the world. version_mismatch as context().
  [[nodiscard, gnu::visibility("hidden")]] pgas::direct_context direct_context() const {
    pgas::context result;
    fill_context(result, detail::context_layout, true);
    return pgas::direct_context(result);
  }

  /// @brief Creates a team of the `size` members start, start + stride, ...; a stride may be negative.
  ///
  /// Collective over this team.
  ///
  /// @return The new team on its members, an empty team on the other members of this team.
  /// @throws error invalid_argument, asymmetric_call, out_of_memory: the same on all members of this team; after an
  /// error there is no new team. version_mismatch if `how` sets a field that the library does not have.
  [[nodiscard, gnu::visibility("hidden")]] team split_strided(int start, int stride, int size,
                                                              const team_config& how = {}) const {
    return make_strided(start, stride, size, detail::give(how));
  }
  /// @brief Numbers the members row by row, `x_range` members in a row, and creates a team for each row and each
  /// column.
  ///
  /// Collective over this team.
  ///
  /// @return The teams of this PE's row and column.
  [[nodiscard, gnu::visibility("hidden")]] std::pair<team, team> split_2d(int x_range, const team_config& x_how = {},
                                                                          const team_config& y_how = {}) const {
    return make_2d(x_range, detail::give(x_how), detail::give(y_how));
  }
  /// @brief Creates a team of the members with the same colour, ordered by key, then by their number in this team.
  ///
  /// Collective over this team. A member with a negative colour makes the call too and receives an empty team.
  [[nodiscard, gnu::visibility("hidden")]] team split(int color, int key, const team_config& how = {}) const {
    return make_by_color(color, key, detail::give(how));
  }
  /// @brief Creates a team of the listed members, in the order of the list.
  ///
  /// Collective over this team, with the same list on all members.
  [[nodiscard, gnu::visibility("hidden")]] team split_list(std::span<const int> members,
                                                           const team_config& how = {}) const {
    return make_list(members, detail::give(how));
  }
  /// @brief Creates a team of `members`, a list of numbers in this team, in the order of the new team.
  ///
  /// Only the listed members make the call, and all of them pass the same list.
  ///
  /// *Units* `key` is below 2^62 and the same on all members. Two teams with a common member must have different keys
  /// if they exist, or are created, at the same time. A key can be reused after the destruction of its team and a
  /// barrier of all members.
  /// *Callers* any thread; several threads may make the call at the same time if their keys differ.
  ///
  /// @throws error invalid_argument, out_of_memory. Members whose arguments differ wait for one another.
  [[nodiscard, gnu::visibility("hidden")]] team create_group(std::span<const int> members, std::uint64_t key,
                                                             const team_config& how = {}) const {
    return make_group(members, key, detail::give(how));
  }
  /// @brief Waits for all members, then releases the state and the memory of the team.
  ///
  /// Collective over this team. The object is empty afterwards. Kernels and streams that use the team must have ended.
  /// Has no effect on an empty team or a team that the world owns.
  void destroy();

  /// @brief Allocates `count` objects of T on every member, at the same offset.
  ///
  /// Collective over this team. PEs that are not members have no memory at the offset of the allocation: host
  /// operations on these PEs throw outside_heap, and device operations must not address these PEs. In all other
  /// respects the call behaves as world::allocate(). The team's destruction frees the memory; a symmetric<T> that is
  /// destroyed later does nothing.
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, initialize how = initialize::no,
                                      std::size_t alignment = alignof(T)) const {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), alignment, how));
    return symmetric<T>(world_state(), data, data != nullptr ? count : 0, state_);
  }
  /// @brief Like allocate(), but without an owner: the program calls free().
  ///
  /// Null for 0 bytes.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size = 1, std::size_t alignment = 16,
                                     initialize how = initialize::no) const;
  /// @brief Frees an allocation of allocate_bytes() of this team.
  ///
  /// Collective over this team. Null has no effect.
  ///
  /// @throws error invalid_free.
  void free(void* pointer) const;

  /// @brief The implementation, for functions of the library.
  ///
  /// @throws error invalid_argument for an empty team.
  [[nodiscard]] detail::team_state& state() const;

 private:
  friend class detail::world_state;
  explicit team(std::shared_ptr<detail::team_state> state) noexcept;
  // The library's part of the inline functions above. `layout` is detail::context_layout of the program's headers.
  void fill_view(team_view& result, std::uint32_t layout) const;
  void fill_context(pgas::context& result, std::uint32_t layout, bool direct) const;
  [[nodiscard]] team make_strided(int start, int stride, int size, const detail::given<team_config>& how) const;
  [[nodiscard]] std::pair<team, team> make_2d(int x_range, const detail::given<team_config>& x_how,
                                              const detail::given<team_config>& y_how) const;
  [[nodiscard]] team make_by_color(int color, int key, const detail::given<team_config>& how) const;
  [[nodiscard]] team make_list(std::span<const int> members, const detail::given<team_config>& how) const;
  [[nodiscard]] team make_group(std::span<const int> members, std::uint64_t key,
                                const detail::given<team_config>& how) const;
  std::shared_ptr<detail::team_state> state_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
