/// @file
/// The step of joining in which the PEs choose their devices: all a GPU, or all the host heap.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_plane.hpp"
#include "host/log/logger.hpp"
#include "host/topology/device_descriptor.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The device of this PE, and of all PEs.
struct chosen_device {
  std::unique_ptr<device> own;
  std::vector<device_user> users;  ///< by PE
};

/// Collective: opens the device that the settings and the launcher tell, and compares the PEs: a world has one kind of
/// heap. *Errors* mixed_heaps, device_unavailable; the same on all PEs.
[[nodiscard]] chosen_device choose_device(const control_plane& everyone, const config& settings, log::logger& log);

}  // namespace pgas::detail
