/// @file
/// Launch attributes: a high priority, and programmatic dependent launch (CUDA Programming Guide), which hides a part
/// of the launch latency. The GPU sets up a kernel while the previous kernel of the stream ends. The kernel then calls
/// a function that waits for the previous kernel.
///
/// The blocks of the kernel become resident when all blocks of the previous kernel have ended or have called
/// trigger_next_launch() (`device/launch_order.hpp`). Kernels of the library never call trigger_next_launch(). A kernel
/// of the library can wait for another kernel, of this PE or of another PE on the same GPU, and blocks that become
/// resident early would take the resources that the other kernel needs.
#pragma once

#include "pgas/detail/isa/ptx_gpu_scope.hpp"

#if defined(__CUDACC__)

namespace pgas::detail {

/// Whether a kernel that first calls wait_for_predecessor() may be set up early. The kernel's code for the current GPU
/// must contain the call of wait_for_predecessor(). Code that was compiled for an older GPU and translated by the
/// driver does not contain the call. The driver must also support this early setup for launches in graphs.
[[nodiscard]] inline bool may_be_set_up_early(const cudaFuncAttributes& kernel) {
  constexpr int with_graphs = 12030;
  static const int driver = [] {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
  }();
  return kernel.ptxVersion >= 90 && driver >= with_graphs;
}

/// The attribute for a launch that is set up early.
[[nodiscard]] inline cudaLaunchAttribute early_set_up() {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  return early;
}

/// The attribute for a launch with the highest priority for free resources.
[[nodiscard]] inline cudaLaunchAttribute highest_priority() {
  static const int highest = [] {
    int lowest = 0;
    int found = 0;  // lower numbers are higher priorities
    return cudaDeviceGetStreamPriorityRange(&lowest, &found) == cudaSuccess ? found : 0;
  }();
  cudaLaunchAttribute first{};
  first.id = cudaLaunchAttributePriority;
  first.val.priority = highest;
  return first;
}

}  // namespace pgas::detail

#endif
