/// @file
/// Functions for processes that use two GPUs, which CUDA does not provide.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "pgas/device.hpp"

namespace two_gpus {

/// Host memory that both GPUs have mapped.
struct clock_page {
  std::uint64_t asked;
  std::uint64_t answered;
  std::uint64_t ahead_ns;
  std::uint64_t known_to_ns;
};

__global__ void ask_clock(clock_page* page, std::uint64_t rounds) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::uint64_t begin = pgas::detail::clock_ns();
    pgas::detail::store_release(&page->asked, round);
    std::uint64_t remote = 0;
    while ((remote = pgas::detail::load_relaxed(&page->answered)) == 0) {
    }
    const std::uint64_t taken = pgas::detail::clock_ns() - begin;
    pgas::detail::store_relaxed(&page->answered, std::uint64_t{0});
    if (taken >= least) continue;
    least = taken;
    page->ahead_ns = remote - (begin + taken / 2);
    page->known_to_ns = taken / 2;
  }
}

__global__ void answer_clock(clock_page* page, std::uint64_t rounds) {
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    while (pgas::detail::load_relaxed(&page->asked) != round) {
    }
    pgas::detail::store_relaxed(&page->answered, pgas::detail::clock_ns());
  }
}

/// The difference between the clocks of GPU 0 and GPU 1, and its uncertainty. GPU 1 sends questions to GPU 0, and the
/// test uses the fastest answer.
inline cudaError_t compare_clocks(std::int64_t& ahead_ns, std::int64_t& known_to_ns) {
  constexpr std::uint64_t rounds = 200;
  clock_page* page = nullptr;
  if (const cudaError_t failed = cudaHostAlloc(&page, sizeof(*page), cudaHostAllocMapped | cudaHostAllocPortable))
    return failed;
  *page = {};
  cudaSetDevice(1);
  ask_clock<<<1, 1>>>(page, 0);  // loads the kernel before another kernel runs
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  answer_clock<<<1, 1>>>(page, rounds);
  cudaSetDevice(1);
  ask_clock<<<1, 1>>>(page, rounds);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  ahead_ns = static_cast<std::int64_t>(page->ahead_ns);
  known_to_ns = static_cast<std::int64_t>(page->known_to_ns);
  cudaFreeHost(page);
  return cudaGetLastError();
}

/// Makes streams wait for an interprocess event with CUDA's own calls. If the event was opened on GPU 1, a stream of
/// GPU 1 waits for it, and the stream of GPU 0 waits for that stream. A direct wait by a stream of a GPU on which the
/// event was not opened ends the process by SIGSEGV (driver 580).
class event_wait {
 public:
  event_wait(cudaEvent_t event, bool on_gpu_1) : event_(event) {
    if (!on_gpu_1) return;
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&there_, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&passed_, cudaEventDisableTiming);
    cudaSetDevice(0);
  }
  [[nodiscard]] cudaError_t operator()(cudaStream_t stream) const {
    if (there_ == nullptr) return cudaStreamWaitEvent(stream, event_, 0);
    if (const cudaError_t failed = cudaStreamWaitEvent(there_, event_, 0)) return failed;
    if (const cudaError_t failed = cudaEventRecord(passed_, there_)) return failed;
    return cudaStreamWaitEvent(stream, passed_, 0);
  }

 private:
  cudaEvent_t event_;
  cudaStream_t there_ = nullptr;
  cudaEvent_t passed_ = nullptr;
};

}  // namespace two_gpus
