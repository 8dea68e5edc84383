// What is said of launches that fail.
#include <fmt/format.h>

#include "host/compat/nvshmem/host_library.hpp"
#include "pgas/detail/launch_kernel.hpp"

namespace pgas::capi {

#pragma GCC visibility push(default)
extern "C" {

int pgas_nvshmem_launch_failed(const char* function, unsigned long long blocks, unsigned threads, unsigned fit,
                               const char* cause) {
  return with_status(function, [&] {
    if (cause == nullptr) throw detail::does_not_fit(blocks, threads, fit, "launch it as any other kernel");
    throw error(code::launch_failed, fmt::format("launch of {} blocks of {} threads: {}", blocks, threads, cause));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::capi
