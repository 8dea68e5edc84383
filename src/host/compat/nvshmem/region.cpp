// Regions of the host's threads.
#include "pgas/compat/nvshmem/region.h"

#include <fmt/format.h>

#include <atomic>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/compat/nvshmem/block_region.h"

namespace pgas::compat {

namespace {

struct thread_region {
  nvshmemx_region_handle_t handle = 0;  ///< 0: none
  std::uint32_t hints = 0;
};
thread_local thread_region of_thread;

std::atomic<nvshmemx_region_handle_t> last_handle{0};
/// All regions with numbers up to this number have ended, together with the world in which they were started.
std::atomic<nvshmemx_region_handle_t> last_ended{0};

/// The region of this thread.
thread_region& current() {
  if (of_thread.handle <= last_ended.load(std::memory_order_relaxed)) of_thread = {};
  return of_thread;
}

void check_hints(std::uint32_t hints) {
  if (!are_region_hints(hints))
    throw error(code::invalid_argument,
                fmt::format("hints {:#x} of a region: NVSHMEMX_REGION_HINT_BATCH_RMA or 0", hints));
}

void check_started() { static_cast<void>(runtime::instance().my_pe()); }

}  // namespace

void end_regions() noexcept { last_ended.store(last_handle.load()); }

#pragma GCC visibility push(default)
extern "C" {

int nvshmemx_region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attrs) {
  return to_nvshmemx_status("nvshmemx_region_start", [&] {
    check_started();
    if (handle == nullptr) throw error(code::invalid_argument, "the pointer to the handle is null");
    const std::uint32_t hints = attrs != nullptr ? attrs->hints : std::uint32_t{NVSHMEMX_REGION_HINT_NONE};
    check_hints(hints);
    if (current().handle != 0)
      throw error(code::invalid_argument,
                  "this thread is already in a region: a thread can be in one region at a time");
    current() = {last_handle.fetch_add(1, std::memory_order_relaxed) + 1, hints};
    *handle = current().handle;
  });
}

int nvshmemx_region_stop(nvshmemx_region_handle_t handle) {
  return to_nvshmemx_status("nvshmemx_region_stop", [&] {
    check_started();
    if (handle == 0 || handle != current().handle)
      throw error(code::invalid_argument, fmt::format("{} is not the region of this thread", handle));
    current() = {};
  });
}

int pgas_nvshmem_region_is_active(std::uint32_t hints, int* active) {
  return to_nvshmemx_status("nvshmemx_region_is_active", [&] {
    check_started();
    if (active == nullptr) throw error(code::invalid_argument, "the pointer to the answer is null");
    check_hints(hints);
    *active = current().handle != 0 && (current().hints & hints) == hints ? 1 : 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
