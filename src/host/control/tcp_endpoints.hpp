/// @file
/// The second word of PEs that do not all run on one host: where the others may connect to.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/net/address.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// One PE's.
struct tcp_endpoints {
  std::vector<tcp_address> addresses;  ///< where it listens; none where no network interface is up
  std::chrono::milliseconds peer_timeout{};
  std::string failure;  ///< why it could not open its socket; empty if it could
};

[[nodiscard]] blob encode(const tcp_endpoints& mine);
/// *Errors* bootstrap_protocol.
[[nodiscard]] std::vector<tcp_endpoints> decode_offers(const std::vector<blob>& all);

}  // namespace pgas::detail
