/// @file
/// Attributes of launches: of urgent ones, and of those that hide a part of their time. A kernel is set up on the GPU
/// while the one before it on the stream ends, and waits for it by itself (programmatic dependent launch, CUDA
/// Programming Guide).
///
/// Its blocks take their places when all of that kernel's blocks have ended, or said so (`device/launch_order.hpp`).
/// Those of the library's kernels never say so: they may wait for another kernel, of this PE or of another one on the
/// same GPU, that would find no place any more.
#pragma once

#include "pgas/detail/isa/ptx_gpu_scope.hpp"

#if defined(__CUDACC__)

namespace pgas::detail {

/// Whether a kernel that calls wait_for_predecessor() first may be set up early: its code for the current GPU must have
/// been compiled with that call in it, so not for an older GPU and translated by the driver, which must know such
/// launches in graphs, too.
[[nodiscard]] inline bool may_be_set_up_early(const cudaFuncAttributes& kernel) {
  constexpr int with_graphs = 12030;
  static const int driver = [] {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
  }();
  return kernel.ptxVersion >= 90 && driver >= with_graphs;
}

/// The attribute of such a launch.
[[nodiscard]] inline cudaLaunchAttribute early_set_up() {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  return early;
}

/// The attribute of a launch whose blocks take free places before those of others.
[[nodiscard]] inline cudaLaunchAttribute highest_priority() {
  static const int highest = [] {
    int lowest = 0;
    int found = 0;  // a lower number
    return cudaDeviceGetStreamPriorityRange(&lowest, &found) == cudaSuccess ? found : 0;
  }();
  cudaLaunchAttribute first{};
  first.id = cudaLaunchAttributePriority;
  first.val.priority = highest;
  return first;
}

}  // namespace pgas::detail

#endif
