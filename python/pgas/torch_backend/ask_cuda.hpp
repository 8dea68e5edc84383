/// @file
/// The backend's queries to CUDA. The queries use torch's own guard and the driver, so the library works with builds of
/// torch with and without CUDA.
#pragma once

#include <cstdint>

namespace pgas::torch_backend {

/// torch's current stream of a GPU: a cudaStream_t.
[[nodiscard]] void* current_stream(int device);
/// Whether the current stream is being captured into a graph.
[[nodiscard]] bool is_capturing(int device);
/// The number of the capture of the current stream; 0 if the stream is in no capture.
[[nodiscard]] std::uint64_t capture_id(int device);
/// Returns when all work of the GPU is complete. *Errors* throws errors of that work.
void wait_for_gpu(int device);

}  // namespace pgas::torch_backend
