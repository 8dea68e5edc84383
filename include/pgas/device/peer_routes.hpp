/// @file
/// The routes of a PE to the others: the proxy's queue where some are proxied, and the distances of their slots.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/failure_record.hpp"
#include "pgas/detail/proxy_ring.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// In memory that kernels of this PE read; a context without one reaches all PEs by load and store, by arithmetic. With
/// one all PEs may be direct, too, in slots that lie anywhere: then the ring never has a command.
struct routes {
  /// In `slots`: load and store don't get there, the proxy does.
  static constexpr std::int32_t proxied = -0x7fffffff - 1;

  /// By PE of the world: its slot's distance from this PE's, in units of context::log2_stride_, or `proxied`.
  const std::int32_t* slots = nullptr;
  team_view domain;  ///< the PEs that are not proxied, this one among them
  ring_view ring;
  workspace_view workspace;
  // As in the contexts of this PE, so that all that producers need is behind one pointer: out-of-line code costs its
  // callers a register for each argument.
  control_block* control = nullptr;
  std::uintptr_t my_slot = 0;
};

/// Addresses of the members of a team: the part of a context that context::world_remote() needs.
struct peer_map {
  const std::int32_t* members;  ///< null where they are evenly spaced
  std::int32_t first;           ///< slots from this PE's to that of the first member; of the world's PE 0 for a list
  std::int32_t stride;
  std::uint32_t log2_stride;

  /// From this PE's slot to a member's, in bytes.
  [[nodiscard]] PGAS_FN std::uintptr_t distance(std::int32_t member) const {
    const std::int32_t slots = first + (members == nullptr ? member * stride : members[member]);
    return static_cast<std::uintptr_t>(static_cast<std::intptr_t>(slots)) << log2_stride;
  }
  /// A member's address of this PE's `local`.
  template <class T>
  [[nodiscard]] PGAS_FN T* at(T* local, std::int32_t member) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance(member));
  }
};

}  // namespace pgas::detail

#include "pgas/detail/names_end.inc"
