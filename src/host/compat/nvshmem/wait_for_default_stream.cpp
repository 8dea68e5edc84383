// The wait for CUDA's legacy default stream. Host barriers, allocations and collectives begin with it.
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
    } catch (const error& failed) {  // aborts the world, because the other PEs would wait for this PE
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
          "the legacy default stream is still busy after {} (PGAS_DEFAULT_STREAM_WAIT), and the host's barrier, "
          "allocation or collective continues without it: a cudaMemset on that stream may overwrite data that peers "
          "write from now on. If a kernel on that stream waits for this PE, launch it on a non-blocking stream, or set "
          "the variable to 0; otherwise call cudaDeviceSynchronize() first",
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
