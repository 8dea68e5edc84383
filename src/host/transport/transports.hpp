/// @file
/// The transports of this library: a factory and its settings for each.
#pragma once

#include <memory>
#include <string>

#include "host/log/log.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

struct ucx_settings {
  int pe = 0;                  ///< this PE's world number; each message names its sender
  bool one_host = true;        ///< false: no shared memory, as UCX may take two containers for one host
  bool without_tcp = false;    ///< shared memory reaches all PEs
  std::string devices{};       ///< network devices to use, separated by commas; empty: UCX chooses
  log::logger* log = nullptr;  ///< never null in a call; outlives the transport
};

/// Loads UCX at run time. The user's own UCX_* variables take precedence over these settings.
///
/// UCX authenticates nobody, and over TCP it listens on all devices that it may use: anybody who can connect to such a
/// port can end the process (see docs/security.md). Arriving messages are checked for their shape, not for their
/// origin. *Errors* transport_failed where UCX is not installed, is too old, can't be started, or was left out of this
/// build.
[[nodiscard]] std::unique_ptr<transport> make_ucx_transport(const ucx_settings& settings);

}  // namespace pgas::detail
