/// @file
/// Chooses the GPU of a world. The contexts of the application decide, because kernels of the application and memory of
/// the library must be in one context.
#pragma once

#include "device/cuda/driver.hpp"

namespace pgas::detail::cuda {

/// The GPU that the settings request. If they request none, the GPU whose context is current; if no context is current,
/// `otherwise`.
/// @param asked -1: the settings request no GPU
/// *Errors* misused_gpu if a context of this GPU is current that is not its primary context: kernels that the
/// application launches there would not see the library's state.
[[nodiscard]] int choose_gpu(const driver_api& api, int asked, int otherwise);

}  // namespace pgas::detail::cuda
