#include <algorithm>

#include "host_rows.hpp"
#include "pgas/error.hpp"
#include "row.hpp"

namespace pgas::perf {

namespace on_host {
std::vector<row> kernel_rows();
}
namespace on_gpu {
std::vector<row> kernel_rows();
}

bool stands_for(std::string_view word, const row& r) {
  if (word.ends_with('*')) return r.name.starts_with(word.substr(0, word.size() - 1));
  if (word.starts_with('*')) return r.name.ends_with(word.substr(1));
  return word == r.name;
}

std::string_view name_of(scope by) { return by == scope::thread ? "thread" : by == scope::warp ? "warp" : "block"; }

std::string_view unit_of(const row& r) {
  switch (r.is) {
    case figure::bandwidth: return "GB/s";
    case figure::rate: return "Mop/s";
    case figure::latency: return "us";
    case figure::size: break;
  }
  return "MiB";
}

std::vector<row> all_rows(bool gpu) {
  if (gpu && PGAS_PERF_GPU == 0)
    throw error(code::launch_failed,
                "this pgas-perf was built without CUDA, but the heap is on a GPU: set PGAS_HEAP=host");
  std::vector<row> all;
#if PGAS_PERF_GPU
  all = gpu ? on_gpu::kernel_rows() : on_host::kernel_rows();
#else
  all = on_host::kernel_rows();
#endif
  std::ranges::move(host_rows(), std::back_inserter(all));
  return all;
}

}  // namespace pgas::perf
