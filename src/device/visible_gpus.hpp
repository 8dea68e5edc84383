/// @file
/// The GPUs that this process sees, by number and by UUID: the number that a GPU has differs between processes
/// (CUDA_VISIBLE_DEVICES).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace pgas::detail {

/// The bytes of a GPU's UUID.
using gpu_uuid = std::array<std::byte, 16>;

/// How many GPUs the CUDA runtime counts. *Errors* device_unavailable.
[[nodiscard]] int visible_gpus();
/// @param ordinal as the CUDA runtime counts. *Errors* device_unavailable where there is no such GPU.
[[nodiscard]] gpu_uuid uuid_of_gpu(int ordinal);
/// The number that the GPU has in this process, if it sees it. *Errors* device_unavailable without a driver.
[[nodiscard]] std::optional<int> find_gpu(const gpu_uuid& uuid);
/// "GPU-0123...", as nvidia-smi prints it.
[[nodiscard]] std::string text_of(const gpu_uuid& uuid);

}  // namespace pgas::detail
