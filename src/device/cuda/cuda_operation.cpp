// One-sided operations on the GPU backend: by the copy engines where they can, else by the library's kernels.
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/kernels/kernels.hpp"

namespace pgas::detail::cuda {

void cuda_device::enqueue(const operation_request& request, stream_handle stream) {
  const enqueuing on(*this, stream);
  if (request.what == operation_request::kind::strided && !(reaches(request.to) && reaches(request.from)))
    return copy_blocks(request, on.stream());
  check(launch_operation(request, on.stream()), "launching an operation", code::launch_failed);
}

void cuda_device::copy_blocks(const operation_request& request, cudaStream_t stream) {
  auto* to = static_cast<std::byte*>(request.to);
  const auto* from = static_cast<const std::byte*>(request.from);
  constexpr std::int64_t largest_pitch = 0x7fffffff;
  const auto width = static_cast<std::int64_t>(request.bytes);
  const auto is_pitch = [&](std::int64_t step) { return step >= width && step <= largest_pitch; };
  if (is_pitch(request.to_step) && is_pitch(request.from_step)) {
    check(cudaMemcpy2DAsync(to, static_cast<std::size_t>(request.to_step), from,
                            static_cast<std::size_t>(request.from_step), request.bytes, request.count,
                            cudaMemcpyDefault, stream),
          "copying blocks");
    return;
  }
  for (std::uint64_t i = 0; i < request.count; ++i, to += request.to_step, from += request.from_step)
    check(cudaMemcpyAsync(to, from, request.bytes, cudaMemcpyDefault, stream), "copying a block");
}

void cuda_device::update(std::span<batched_atomic> list, stream_handle stream) {
  const enqueuing on(*this, stream);
  check(launch_updates(list.data(), static_cast<unsigned>(list.size()), on.stream()), "launching atomic operations",
        code::launch_failed);
}

std::uint64_t cuda_device::fetch(const operation_request& request) {
  const std::lock_guard lock(result_mutex_);
  operation_request fetching = request;
  fetching.result = result_.device;
  *static_cast<std::uint64_t*>(result_.host) = 0;  // narrow values leave the upper bytes alone
  enqueue(fetching, nullptr);
  synchronize(nullptr);
  return *static_cast<const std::uint64_t*>(result_.host);
}

void cuda_device::snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) {
  // The copy engines move aligned words whole, and need no multiprocessor, which spinning kernels may have to
  // themselves.
  copy(to, from, count * word_bytes, nullptr);
  synchronize(nullptr);
}

bool cuda_device::reaches(const void* memory) {
  const current_context current(context_);
  cudaPointerAttributes about{};
  if (cudaPointerGetAttributes(&about, memory) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return reaches_pageable_;
  }
  return about.type == cudaMemoryTypeUnregistered ? reaches_pageable_ : about.devicePointer == memory;
}

}  // namespace pgas::detail::cuda
