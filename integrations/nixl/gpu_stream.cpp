#include "gpu_stream.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "pgas/copy_blocks.hpp"
#include "pgas/error.hpp"

namespace pgas::nixl {

namespace {

void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw error(code::device_failed, std::string(what) + ": " + cudaGetErrorString(result));
}

}  // namespace

bool has_gpu_streams() noexcept { return true; }

gpu_stream::gpu_stream(memory_place place) : place_(place), progress_(timeline::make(place)) {
  check(cudaSetDevice(place.ordinal), "choosing the GPU of a transfer");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream for transfers");
  stream_ = stream;
}

gpu_stream::~gpu_stream() {
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(static_cast<cudaStream_t>(stream_)));
}

std::uint64_t gpu_stream::copy(const copy_list& list) {
  check(cudaSetDevice(place_.ordinal), "choosing the GPU of a transfer");
  copy_blocks(place_, stream_, list);
  progress_.record(stream_, recorded_ + 1);
  return ++recorded_;
}

bool gpu_stream::has_reached(std::uint64_t value) const {
  if (progress_.query() >= value) return true;
  const cudaError_t state = cudaStreamQuery(static_cast<cudaStream_t>(stream_));
  if (state != cudaErrorNotReady) check(state, "a transfer on a stream of the GPU");
  return false;
}

}  // namespace pgas::nixl
