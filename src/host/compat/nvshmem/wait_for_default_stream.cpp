// The wait for CUDA's legacy default stream, which host barriers, allocations and collectives come after.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "host/compat/nvshmem/cuda_driver.hpp"
#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/detail/launch/launch_kernel.hpp"

namespace pgas::compat {

void wait_for_default_stream(world& w) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  constexpr auto spin_time = 50us;
  const std::chrono::milliseconds longest = w.settings().default_stream_wait;
  if (longest == 0ms) return;
  const detail::device_guard guard(w);
  const clock::time_point began = clock::now();
  const auto is_busy = [] {
    try {
      return default_stream_is_busy();
    } catch (const error& failed) {  // the other PEs would wait for this one
      runtime::instance().abort(exit_reason(failed.what(), EXIT_FAILURE), log_level::info);
      throw;
    }
  };
  while (is_busy()) {
    w.check();
    const auto waited = clock::now() - began;
    if (waited >= longest) {
      static std::atomic<bool> is_said{false};
      if (is_said.exchange(true)) return;
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

}  // namespace pgas::compat
