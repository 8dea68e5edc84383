/// @file
/// What the backend asks of CUDA itself, by torch's own guard and by the driver: so that it is one library for torch
/// with and without CUDA.
#pragma once

namespace pgas::torch_backend {

/// torch's current stream of a GPU: a cudaStream_t.
[[nodiscard]] void* current_stream(int device);
/// Whether that stream is being captured into a graph.
[[nodiscard]] bool is_capturing(int device);
/// Returns when all work of the GPU is done. *Errors* those of the work.
void wait_for_gpu(int device);

}  // namespace pgas::torch_backend
