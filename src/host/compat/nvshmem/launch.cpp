// The library's part of nvshmemx_collective_launch: how many blocks fit, and why a launch failed. And the wait for
// CUDA's legacy default stream, which host barriers, allocations and collectives come after.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "host/compat/nvshmem/cuda_driver.hpp"
#include "host/compat/nvshmem/host_library.hpp"
#include "pgas/detail/launch_kernel.hpp"

namespace pgas::compat {

void follow_default_stream(world& w) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  constexpr auto spin_time = 50us;
  const std::chrono::milliseconds longest = w.settings().default_stream_wait;
  if (longest == 0ms) return;
  const detail::device_guard guard(w);
  const clock::time_point began = clock::now();
  while (default_stream_is_busy()) {
    w.check();
    const auto waited = clock::now() - began;
    if (waited >= longest) {
      runtime::instance().warn(fmt::format(
          "the legacy default stream is still busy after {} (PGAS_DEFAULT_STREAM_WAIT), so that a host's barrier, "
          "allocation or collective goes on without it: a cudaMemset there may undo what peers write from now on. If a "
          "kernel there waits for this PE, start it on a non-blocking stream, or set the variable to 0; else call "
          "cudaDeviceSynchronize() before",
          longest));
      return;
    }
    if (waited < spin_time)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(spin_time);
  }
}

#pragma GCC visibility push(default)
extern "C" {

int pgas_nvshmem_admitted_blocks(int multiprocessors, int each, int threads, int registers) {
  const detail::resident_kernel kernel{static_cast<unsigned>(multiprocessors), static_cast<unsigned>(each),
                                       static_cast<unsigned>(threads), static_cast<unsigned>(registers)};
  return or_global_exit("nvshmemx_collective_launch",
                        [&] { return static_cast<int>(detail::admitted_blocks(runtime::instance().world(), kernel)); });
}

int pgas_nvshmem_launch_failed(const char* function, unsigned long long blocks, unsigned threads, unsigned fit,
                               const char* cause) {
  return to_nvshmemx_status(function, [&] {
    if (cause == nullptr) throw detail::does_not_fit(blocks, threads, fit, "launch it as any other kernel");
    throw error(code::launch_failed, fmt::format("launch of {} blocks of {} threads: {}", blocks, threads, cause));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
