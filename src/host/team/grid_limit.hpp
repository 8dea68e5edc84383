/// @file
/// The limit of a resident grid in a world with proxied peers: the proxy's kernel, which executes their operations on
/// this PE's memory, needs room beside it. *Callers* api/launch.cpp.
#pragma once

#include "device/device.hpp"
#include "pgas/detail/launch_kernel.hpp"

namespace pgas::detail {

/// How many of these blocks a GPU holds, in any distribution over its multiprocessors, with room for one warp of the
/// proxy.
[[nodiscard]] unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu);

}  // namespace pgas::detail
