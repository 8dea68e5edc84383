/// @file
/// The GPUs that this process sees, by number and by UUID. A GPU can have different numbers in different processes
/// (CUDA_VISIBLE_DEVICES).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace pgas::detail {

/// The bytes of a GPU's UUID.
using gpu_uuid = std::array<std::byte, 16>;

/// The number of GPUs that the driver shows to this process. *Errors* device_unavailable.
[[nodiscard]] int visible_gpus();
/// @param ordinal the number of the GPU in this process *Errors* device_unavailable if the process does not see the
/// GPU.
[[nodiscard]] gpu_uuid uuid_of_gpu(int ordinal);
/// The number of the GPU in this process. Empty if the process does not see the GPU. *Errors* device_unavailable
/// without a driver.
[[nodiscard]] std::optional<int> find_gpu(const gpu_uuid& uuid);
/// "GPU-0123...", as nvidia-smi prints it.
[[nodiscard]] std::string text_of(const gpu_uuid& uuid);

}  // namespace pgas::detail
