/// @file
/// Finds the PEs that can share memory, and the best kind of handle. The search exports and imports a segment.
/// *Callers* the heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"
#include "host/log/logger.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The result of the probe. All fields are the same on all PEs, except `domains`, which depends on the PE.
struct probe_result {
  handle_kind kind;
  class domains domains;
};

/// The ways in which a PE can share memory. PEs compare their offers when they join.
struct sharing_offer {
  std::array<handle_kind, 8> kinds{};  ///< the best kind first; unused entries are `automatic`
  std::uint64_t p2p = 0;               ///< a hash of PGAS_P2P
  std::uint64_t allow_proxied = 0;
  bool operator==(const sharing_offer&) const = default;
  [[nodiscard]] bool has(handle_kind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
};

/// @param allow_proxied whether PEs that are on one host but cannot share memory may be proxied
[[nodiscard]] sharing_offer offer_of(const device& device, const config& settings, bool allow_proxied);

/// The expected result without an attempt to share memory, if all PEs make the same offer. Each PE is expected to share
/// memory with the PEs that have the same host and the same set, by the first kind of the offer. The first kind must be
/// shared by descriptors, and the device must have spans of this kind; otherwise the result is empty, and an attempt
/// must find the domains. Not collective.
/// *Errors* config_value.
[[nodiscard]] std::optional<probe_result> expected_domains(const device& device, const control_group& everyone,
                                                           const config& settings, const sharing_offer& offer);
/// Logs the choice of the kind on PE 0.
void report_kind(const control_group& everyone, handle_kind kind, log::logger& log);

/// Finds the first kind of device::handle_kinds() by which all PEs of each host can map one another's segments.
/// `settings` limit the kinds and the sets of PEs. Collective. Device attributes are not used, because some drivers
/// report kinds that they refuse. If the kind also works between hosts (fabric handles), these hosts form one domain.
/// If no kind works on every host and PEs may be proxied, the result is the kind with the fewest domains, and a warning
/// is logged. PE 0 logs one line. The line is a warning if the heap cannot grow (device::places) and no setting
/// requested such a heap. *Errors* handle_exchange with the result of each attempt, config_value; the same on all PEs.
/// @param bytes the size of the segments of the attempts
/// @param same_offers whether the offers of all PEs are known to be equal
[[nodiscard]] probe_result find_domains(device& device, const control_group& everyone, const config& settings,
                                        std::size_t bytes, const sharing_offer& mine, bool same_offers,
                                        log::logger& log);

/// The value of PGAS_MEM_HANDLE for this kind, for messages.
[[nodiscard]] std::string to_string(handle_kind kind);

}  // namespace pgas::detail
