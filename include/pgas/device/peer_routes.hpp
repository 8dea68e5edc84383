/// @file
/// The routes from a PE to the other PEs: the proxy's queue if some PEs are proxied, and the distances to the PEs'
/// slots.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/failure_record.hpp"
#include "pgas/detail/proxy_ring.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// @brief A table in memory that kernels of this PE read.
///
/// A context without a table reaches all PEs by load and store, at addresses that arithmetic computes. If slots are at
/// irregular distances, a context has a table even if all PEs are direct. If all PEs are direct, the ring of the table
/// never contains a command.
struct routes {
  /// @brief The value in `slots` for a proxied PE.
  static constexpr std::int32_t proxied = -0x7fffffff - 1;

  /// @brief For each PE of the world, the distance from this PE's slot to the slot of that PE, in units of
  /// 2^context::log2_stride_ bytes. The value is `proxied` if the PE is proxied.
  const std::int32_t* slots = nullptr;
  team_view domain;  ///< the direct PEs, including this PE
  ring_view ring;
  workspace_view workspace;
  // Copies of the values in this PE's contexts. Because the table has copies of the contexts' values, threads that
  // submit commands pass only one pointer to out-of-line code. Each further argument would cost the caller a register.
  control_block* control = nullptr;
  std::uintptr_t my_slot = 0;
};

/// @brief The part of a context that is needed to compute the addresses of a team's members, as context::world_remote()
/// does.
struct peer_map {
  const std::int32_t* members;  ///< null if the members are evenly spaced
  /// @brief The distance from this PE's slot to the slot of the first member, counted in slots. If `members` is not
  /// null, the field is the distance to the slot of PE 0 of the world.
  std::int32_t first;
  std::int32_t stride;
  std::uint32_t log2_stride;

  /// @brief The distance from this PE's slot to a member's slot, in bytes.
  [[nodiscard]] PGAS_FN std::uintptr_t distance(std::int32_t member) const {
    const std::int32_t slots = first + (members == nullptr ? member * stride : members[member]);
    return static_cast<std::uintptr_t>(static_cast<std::intptr_t>(slots)) << log2_stride;
  }
  /// @brief The address of a member's copy of this PE's `local`.
  template <class T>
  [[nodiscard]] PGAS_FN T* at(T* local, std::int32_t member) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance(member));
  }
};

}  // namespace pgas::detail

#include "pgas/detail/names_end.inc"
