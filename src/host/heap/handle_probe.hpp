/// @file
/// Finds out which way of sharing memory works between all PEs, by doing it.
#pragma once

#include <span>

#include "device/device.hpp"
#include "host/heap/layout.hpp"
#include "host/log/log.hpp"
#include "host/world/link_group.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// Collective: the first kind, in PE 0's order, by which a segment of every PE can be mapped on every PE. Attributes
/// are not asked: drivers announce kinds that they then refuse. Leaves one line in PE 0's log.
/// @param probe_bytes of the segment that is tried, at the start of the slots.
/// *Errors* handle_exchange with what each attempt answered, the same on all PEs.
[[nodiscard]] handle_kind probe_handle_kinds(device& device, const link_group& group, const layout& where,
                                             std::size_t probe_bytes, handle_kind wanted, log::logger& log);

}  // namespace pgas::detail
