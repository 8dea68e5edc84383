/// @file
/// Finds the PEs that can share memory and the kind of handle, by exporting and importing a segment. *Callers* the
/// heap.
#pragma once

#include <cstddef>
#include <string>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/log/logger.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The result of the probe, the same on all PEs but for `domains`, which are this PE's view.
struct probe_result {
  handle_kind kind;
  class domains domains;
};

/// Finds the first kind of handle by which all PEs of each host can map one another's segments. `settings` limit the
/// kinds and the sets of PEs. Collective. Device attributes are not used: drivers announce kinds that they then refuse.
/// Hosts between which the kind also works (fabric handles) are one domain. If no kind works on every host and PEs may
/// be proxied, the result is the kind with the fewest domains, and a warning. PE 0 logs one line, as a warning if the
/// heap cannot grow (device::places) and no setting requested that. *Errors* handle_exchange with the result of each
/// attempt, config_value; the same on all PEs.
/// @param bytes of the segments of the attempts
[[nodiscard]] probe_result find_domains(device& device, const control_group& everyone, const config& settings,
                                        std::size_t bytes, bool allow_proxied, log::logger& log);

/// The spelling of PGAS_MEM_HANDLE, for messages.
[[nodiscard]] std::string to_string(handle_kind kind);

}  // namespace pgas::detail
