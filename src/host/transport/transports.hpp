/// @file
/// The transports that a world can choose from.
#pragma once

#include <memory>
#include <string>

#include "host/log/log.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

struct ucx_settings {
  int pe = 0;                  ///< this PE's world number; messages say who sent them
  bool one_host = true;        ///< else no shared memory: UCX may take two containers for one host
  bool without_tcp = false;    ///< shared memory reaches all PEs
  std::string devices{};       ///< network devices to use, with commas; empty: UCX chooses
  log::logger* log = nullptr;  ///< never null when handed over; outlives the transport
};

/// UCX, looked up at run time. The user's own UCX_* variables are in force and win over what is set here.
///
/// UCX authenticates nobody, and over TCP it listens on all devices that it may use: whoever can connect to such a port
/// can end the process (see docs/security.md). What arrives is checked for shape, not for origin.
/// *Errors* transport_failed where UCX is not installed, is too old, can't be started, or was left out of this build.
[[nodiscard]] std::unique_ptr<transport> make_ucx_transport(const ucx_settings& settings);

}  // namespace pgas::detail
