// The library's part of nvshmemx_collective_launch: the number of blocks that fit, and the reason why a launch failed.
#include <fmt/format.h>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/detail/launch/launch_kernel.hpp"

namespace pgas::compat {

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
    if (cause == nullptr) throw detail::does_not_fit(blocks, threads, fit, "launch it as an ordinary kernel");
    throw error(code::launch_failed, fmt::format("launch of {} blocks of {} threads: {}", blocks, threads, cause));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
