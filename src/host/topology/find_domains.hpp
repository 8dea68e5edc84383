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

/// The result of the probe. All members are the same on all PEs, except `domains`, which is this PE's view.
struct probe_result {
  handle_kind kind;
  class domains domains;
};

/// Finds the first kind of device::handle_kinds() by which all PEs of each host can map one another's segments.
/// `settings` limit the kinds and the sets of PEs. Collective. Device attributes are not used, because some drivers
/// report kinds that they then refuse. Hosts between which the kind also works (fabric handles) form one domain. If no
/// kind works on every host and PEs may be proxied, the result is the kind with the fewest domains, and a warning is
/// logged. PE 0 logs one line. The line is a warning if the heap cannot grow (device::places) and no setting requested
/// that.
/// *Errors* handle_exchange with the result of each attempt, config_value; the same on all PEs.
/// @param bytes the size of the segments of the attempts
[[nodiscard]] probe_result find_domains(device& device, const control_group& everyone, const config& settings,
                                        std::size_t bytes, bool allow_proxied, log::logger& log);

/// The value of PGAS_MEM_HANDLE for this kind, for messages.
[[nodiscard]] std::string to_string(handle_kind kind);

}  // namespace pgas::detail
