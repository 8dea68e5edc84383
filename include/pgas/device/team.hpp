/// @file
/// A team in kernels: its PEs, their order, and the location of its state. A team_view is passed by value. team::view()
/// creates it on the host, and context::world(), domain() and team() create it in kernels.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/team_state_layout.hpp"

namespace pgas {

/// @brief The members of a team, numbered 0 to n_pes() - 1, as this PE sees them.
class team_view {
 public:
  /// @brief This PE's number in the team, -1 if this PE is not a member.
  [[nodiscard]] PGAS_HD std::int32_t my_pe() const { return my_pe_; }
  /// @brief The number of members.
  [[nodiscard]] PGAS_HD std::int32_t n_pes() const { return n_pes_; }
  /// @brief The number of collectives of this team that may run at the same time, each on its own channel.
  [[nodiscard]] PGAS_HD std::int32_t n_channels() const { return n_channels_; }

  /// @brief A member's number in the world.
  [[nodiscard]] PGAS_FN std::int32_t world_pe(std::int32_t member) const {
    return members_ == nullptr ? start_ + member * stride_ : members_[member];
  }
  /// @brief The member with the number `world_pe` in the world, -1 if there is none.
  ///
  /// If the team is a list, the function searches the list.
  ///
  /// *Callers* any thread.
  [[nodiscard]] PGAS_FN std::int32_t member(std::int32_t world_pe) const {
    if (members_ == nullptr) {
      const std::int32_t distance = world_pe - start_;
      if (stride_ == 0 || distance % stride_ != 0) return distance == 0 && n_pes_ != 0 ? 0 : -1;
      const std::int32_t i = distance / stride_;
      return i >= 0 && i < n_pes_ ? i : -1;
    }
    for (std::int32_t i = 0; i < n_pes_; ++i) {
      if (members_[i] == world_pe) return i;
    }
    return -1;
  }
  /// @brief This team on channel `which`, 0 to n_channels() - 1.
  ///
  /// If several blocks call collectives of one team at the same time, each block must use a channel of its own. All
  /// members must use the same channel for the same call. A view starts on channel 0.
  [[nodiscard]] PGAS_HD team_view channel(std::int32_t which) const {
    team_view other = *this;
    other.channel_ = which;
    return other;
  }

  /// @brief For the library's internal use: the channel of block `which` of a kernel that the host has enqueued. The
  /// block uses the channel for barriers with block `which` of the other members.
  [[nodiscard]] PGAS_HD team_view of_block(std::uint32_t which) const {
    return channel(n_channels_ + 1 + static_cast<std::int32_t>(which));
  }

  /// @brief For the library's internal use: the offset of this view's channel state from the start of each slot.
  [[nodiscard]] PGAS_HD std::uint64_t channel_offset() const {
    return state_offset_ + detail::team_state_layout::channel_bytes(n_pes_) * static_cast<std::uint64_t>(channel_);
  }

  // Public data members that the host library fills. Programs use the functions above.
  std::int32_t start_ = 0;
  std::int32_t stride_ = 1;
  std::int32_t n_pes_ = 0;
  std::int32_t my_pe_ = -1;
  std::int32_t n_channels_ = 0;
  std::int32_t channel_ = 0;
  std::uint64_t state_offset_ = 0;  ///< offset of detail::team_state_layout from the start of each slot
  /// @brief Offset of detail::oneshot_staging. 0: the team has no staging memory, or the host did not create this view
  std::uint64_t staging_offset_ = 0;
  const std::int32_t* members_ = nullptr;  ///< list in this PE's slot; null if start_ and stride_ suffice
};
static_assert(sizeof(team_view) == 48 && std::is_trivially_copyable_v<team_view>);

/// @brief Converts PE number `pe` of team `from` to the PE's number in team `to`.
///
/// *Callers* any thread.
///
/// @return -1 if the PE is not a member.
[[nodiscard]] PGAS_FN std::int32_t translate_pe(const team_view& from, std::int32_t pe, const team_view& to) {
  return pe < 0 || pe >= from.n_pes() ? -1 : to.member(from.world_pe(pe));
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
