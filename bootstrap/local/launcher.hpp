/// @file
/// Joining under pgasrun. Each process inherits one end of a socket pair; for each world that it makes, it sends
/// pgasrun one end of a fresh pair through it. So worlds share nothing but the launcher, and threads may make them at
/// once.
#pragma once

#include <cstdint>
#include <memory>

#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// The datagram that carries the descriptor. The n-th from a process is for its n-th world.
struct world_request {
  static constexpr std::uint32_t expected_magic = 0x4c474750;  // "PGGL"
  static constexpr std::uint32_t expected_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
};

/// Joins the other processes of this pgasrun. *Errors* bootstrap_unavailable where `options.local_fd` is not its
/// socket.
[[nodiscard]] std::unique_ptr<bootstrap> join_launcher(const bootstrap_options& options);

}  // namespace pgas::boot
