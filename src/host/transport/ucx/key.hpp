/// @file
/// The key of exposed memory as it travels: where the memory is, and what UCX needs to reach it.
#pragma once

#include <cstdint>
#include <span>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// UCX trusts what it unpacks, so the whole is guarded by a checksum against truncation and mix-ups. It does not guard
/// against forgery: keys come from members of the job.
struct ucx_key {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  blob rkey;  ///< as ucp_rkey_pack() made it

  [[nodiscard]] blob packed() const;
  /// *Errors* handle_invalid for what packed() has not made; `pe` is whom it came from.
  [[nodiscard]] static ucx_key unpack(int pe, std::span<const std::byte> packed);
};

}  // namespace pgas::detail
