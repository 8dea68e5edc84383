/// @file
/// How large grids may be beside which the proxy's kernel runs: it carries out what other PEs ask of this one, and
/// blocks may wait for that.
#pragma once

#include "device/device.hpp"
#include "pgas/detail/launch_kernel.hpp"

namespace pgas::detail {

/// How many of the blocks a GPU holds, wherever it puts them, when one warp of the proxy is to find a place beside
/// them.
[[nodiscard]] unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu);

}  // namespace pgas::detail
