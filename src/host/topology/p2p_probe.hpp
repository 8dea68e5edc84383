/// @file
/// Finds out which PEs can share memory and by which kind of handle, by doing it.
#pragma once

#include <cstddef>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/log/log.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// What came of the probe, the same on all PEs but for whose domains they are.
struct probe_result {
  handle_kind kind;
  domains near;
};

/// What a probe is to try, the same on all PEs but for the device.
struct probe_plan {
  std::size_t bytes;      ///< of the segments that are tried
  handle_kind wanted;     ///< automatic: the first kind, in PE 0's order, that works
  std::vector<int> sets;  ///< of parse_p2p_sets(): PEs in different sets are not to share memory
  bool allow_proxied;     ///< PEs of a host that can't share memory have another way
};

/// Collective: the first kind by which all PEs of each host can map one another's segments. Attributes are not asked:
/// drivers announce kinds that they then refuse. Where a kind also works between hosts (fabric handles), these are one
/// domain. Where none works on every host and PEs may stay apart: the one that leaves the fewest domains, with a
/// warning. Leaves one line in PE 0's log. *Errors* handle_exchange with what each attempt answered, the same on all
/// PEs.
[[nodiscard]] probe_result probe_handle_kinds(device& device, const control_group& everyone, const probe_plan& plan,
                                              log::logger& log);

}  // namespace pgas::detail
