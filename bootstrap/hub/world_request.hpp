/// @file
/// What a process asks pgasrun for.
#pragma once

#include <cstdint>

namespace pgas::boot {

/// The datagram that carries the descriptor. The n-th from a process is for its n-th world.
struct world_request {
  static constexpr std::uint32_t expected_magic = 0x4c474750;  // "PGGL"
  static constexpr std::uint32_t expected_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
};

}  // namespace pgas::boot
