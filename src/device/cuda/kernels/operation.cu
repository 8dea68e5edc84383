#include "device/carry_out.hpp"
#include "device/cuda/kernels/kernels.hpp"
#include "device/cuda/kernels/library_kernel.cuh"

namespace pgas::detail::cuda {

namespace {

__global__ void operation_kernel(operation_request request) { carry_out(request, this_block()); }

__global__ void strided_kernel(operation_request request) {
  const block mine;
  carry_out_strided(request, {mine.block_rank() * mine.size() + mine.thread_rank(), mine.num_blocks() * mine.size()});
}

}  // namespace

cudaError_t launch_operation(const operation_request& request, cudaStream_t stream) {
  if (request.what == operation_request::kind::strided) {
    constexpr std::uint64_t threads = 256;
    constexpr std::uint64_t most_blocks = 64;  // as many as a link or the memory needs to be busy
    const std::uint64_t pieces = request.count * request.bytes / unit_of_copy(request);
    const std::uint64_t blocks = (pieces + threads * 8 - 1) / (threads * 8);
    return library_kernel<&strided_kernel>::launch(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads,
                                                   stream, request);
  }
  const bool many = request.what == operation_request::kind::wait && request.count > 32;
  return library_kernel<&operation_kernel>::launch(1, many ? 256 : 32, stream, request);
}

}  // namespace pgas::detail::cuda
