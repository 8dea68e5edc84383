/// @file
/// Chooses the GPU of a world. The current context of the application determines the GPU, because kernels of the
/// application and memory of the library must be in one context.
#pragma once

#include "device/cuda/driver.hpp"

namespace pgas::detail::cuda {

/// Returns the GPU that the settings request. If the settings request no GPU, returns the GPU whose context is current.
/// If no context is current, returns `otherwise`.
/// @param asked -1: the settings request no GPU
/// *Errors* misused_gpu if the current context belongs to this GPU and is not its primary context. Kernels that the
/// application launches in such a context would not see the library's state.
[[nodiscard]] int choose_gpu(const driver_api& api, int asked, int otherwise);

}  // namespace pgas::detail::cuda
