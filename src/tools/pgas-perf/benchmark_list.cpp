#include "benchmark_list.hpp"

#include <algorithm>
#include <iterator>

#include "pgas/error.hpp"

namespace pgas::perf {

bool matches(std::string_view pattern, const row& r) {
  if (pattern.ends_with('*')) return r.name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return r.name.ends_with(pattern.substr(1));
  return pattern == r.name;
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
  const auto add = [&all](auto... lists) { (std::ranges::move(lists(), std::back_inserter(all)), ...); };
#if PGAS_PERF_GPU
  if (gpu)
    add(on_gpu::copy_rows, on_gpu::ping_pong_rows, on_gpu::atomic_rows, on_gpu::collective_rows, on_gpu::halo_rows);
#endif
  if (!gpu)
    add(on_host::copy_rows, on_host::ping_pong_rows, on_host::atomic_rows, on_host::collective_rows,
        on_host::halo_rows);
  add(host_rows);
  return all;
}

}  // namespace pgas::perf
