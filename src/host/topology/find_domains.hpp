/// @file
/// Finds out which PEs can share memory and by which kind of handle, by sharing a segment. *Callers* the heap.
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

/// Collective: the first kind by which all PEs of each host can map one another's segments, of the kinds and sets that
/// `settings` allow. Attributes are not asked: drivers announce kinds that they then refuse. Where a kind also works
/// between hosts (fabric handles), these are one domain. Where no kind works on every host and PEs may be proxied: the
/// kind that leaves the fewest domains, with a warning. Logs one line on PE 0, as a warning where the heap can't grow
/// (device::places) and nobody asked for that. *Errors* handle_exchange with the answer
/// to each attempt, config_value; the same on all PEs.
/// @param bytes of the segments that are tried
[[nodiscard]] probe_result find_domains(device& device, const control_group& everyone, const config& settings,
                                        std::size_t bytes, bool allow_proxied, log::logger& log);

/// The spelling of PGAS_MEM_HANDLE, for messages.
[[nodiscard]] std::string to_string(handle_kind kind);

}  // namespace pgas::detail
