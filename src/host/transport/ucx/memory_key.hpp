/// @file
/// The key of exposed memory as PEs exchange it: the address of the memory and the remote key of UCX.
#pragma once

#include <cstdint>
#include <span>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// UCX does not check a remote key that it unpacks, so a checksum guards the whole against truncation and mix-ups. It
/// does not guard against forgery: keys come from members of the job.
struct ucx_memory_key {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  blob rkey;  ///< the result of ucp_rkey_pack()

  [[nodiscard]] blob packed() const;
  /// @param pe the sender, for the error
  /// *Errors* handle_invalid for bytes that packed() has not made.
  [[nodiscard]] static ucx_memory_key unpack(int pe, std::span<const std::byte> packed);
};

}  // namespace pgas::detail
