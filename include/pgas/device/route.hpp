/// @file
/// How a PE reaches the others where load and store do not reach all of them.
#pragma once

#include "pgas/detail/command.hpp"
#include "pgas/device/team.hpp"

namespace pgas::detail {

/// In memory that kernels of this PE read; a context without one reaches all PEs by load and store.
struct routes {
  /// In `slots`: load and store don't get there, the proxy does.
  static constexpr std::int32_t proxied = -0x7fffffff - 1;

  /// By PE of the world: how many slots its part lies behind this PE's, or `proxied`.
  const std::int32_t* slots = nullptr;
  team_view domain;  ///< the PEs that are not proxied, this one among them
  ring_view ring;
  workspace_view workspace;
  // As in the contexts of this PE, so that all that producers need is behind one pointer: what is out of line costs its
  // callers a register for each argument.
  control_block* control = nullptr;
  std::uintptr_t my_slot = 0;
};

}  // namespace pgas::detail
