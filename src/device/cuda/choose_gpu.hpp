/// @file
/// Which GPU a world uses. The contexts of the application tell: kernels of the application and memory of the library
/// have to be in one.
#pragma once

#include "device/cuda/driver.hpp"

namespace pgas::detail::cuda {

/// The GPU that the settings ask for, if they do, else the one whose context is current, else `otherwise`.
/// @param asked -1: the settings leave it open
/// *Errors* misused_gpu where a context of this GPU is current that is not its primary one: kernels which the
/// application launches there would not see the library's state.
[[nodiscard]] int choose_gpu(const driver_api& api, int asked, int otherwise);

}  // namespace pgas::detail::cuda
