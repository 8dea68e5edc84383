/// @file
/// The step of joining in which the PEs choose their devices. All PEs use GPUs, or all use the host heap.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "host/exchange/control_plane.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/log/logger.hpp"
#include "host/topology/device_descriptor.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The device of this PE, and the devices of all PEs.
struct chosen_device {
  std::unique_ptr<device> own;
  std::vector<device_user> users;  ///< by PE
  /// The merged record of all PEs; empty if the record describes GPUs that the world does not use.
  std::optional<joining_record> records;
};

/// Opens the device that the settings and the launcher request, and compares the PEs, because a world has one kind of
/// heap. Collective. *Errors* mixed_heaps, device_unavailable; the same on all PEs.
/// @param allow_proxied for the records, which the PEs exchange together with the descriptions of their devices
[[nodiscard]] chosen_device choose_device(const control_plane& everyone, const config& settings, bool allow_proxied,
                                          log::logger& log);

}  // namespace pgas::detail
