// The compiled part of launch(): the current device, the state of a grid, the maximum number of blocks, and grids on
// the host heap.
#include "pgas/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/struct_members.hpp"
#include "device/cpu_grid.hpp"
#include "host/launch/block_limits.hpp"
#include "host/launch/grid_state_pool.hpp"
#include "host/launch/launch_kernel_preload.hpp"
#include "host/world/check_layout.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

unsigned block_threads(const world_state& state, unsigned threads) {
  return std::min(threads, static_cast<unsigned>(state.settings().host_block_threads));
}

}  // namespace

registered_kernel::registered_kernel(std::size_t (*load)()) : load_(load) {
  launch_kernel_preload::of_process().add(load);
}
registered_kernel::~registered_kernel() { launch_kernel_preload::of_process().remove(load_); }

device_guard::device_guard(world& w) : world_(w) { w.state().device().push_context(); }
device_guard::~device_guard() { world_.state().device().pop_context(); }

grid_place grid_area(world& w, const stream& on) {
  const stream_handle native = on.native(w.state());
  grid_state_pool& grids = w.state().grids();
  if (w.state().device().capturing(native)) return {grids.table(), true};
  return {grids.state_of(native), false};
}

error does_not_fit(unsigned long long blocks, unsigned threads, unsigned fit, const char* otherwise) {
  return {code::launch_failed,
          fmt::format("launch: {} blocks of {} threads can't be resident together: this PE's part of the GPU holds {} "
                      "blocks of this kernel (with proxied PEs, beside the proxy's kernel). Blocks that wait for one "
                      "another would never end: launch fewer blocks, or {} if no block waits for another",
                      blocks, threads, fit, otherwise)};
}

unsigned admitted_blocks(world& w, const resident_kernel& kernel) {
  world_state& state = w.state();
  const unsigned all = state.domains().only_one() ? kernel.each * kernel.multiprocessors
                                                  : blocks_beside_proxy(kernel, state.device().properties());
  return all / state.concurrent_pes();
}

void check_kernels(world& w, std::uint32_t layout) {
  w.check();
  check_layout("launch", layout);
}

error wrong_context(std::uint32_t layout, std::uint32_t in_kernel) {
  if (layout == 0)
    return {code::invalid_argument,
            "launch: an argument is an empty context: pass world.context() or team.context(), which make contexts"};
  return {code::version_mismatch,
          fmt::format("launch: an argument is a context of layout {} and {} bytes, but the kernel was compiled for "
                      "layout {} and {} bytes: compile all parts of the program with the headers of the same pgas",
                      layout >> 16, layout & 0xffff, in_kernel >> 16, in_kernel & 0xffff)};
}

void run_grid(world& w, const stream& on, const given<launch_shape>& passed,
              std::function<void(const cpu_block&)> member) {
  const launch_shape shape = taken(passed);
  world_state& state = w.state();
  run_grid_on_cpu(state.device(), on.native(w.state()),
                  {shape.blocks, block_threads(state, shape.threads), shape.resident}, std::move(member));
}

unsigned resident_on_cpu(world& w, unsigned threads) {
  return most_threads_at_once / block_threads(w.state(), threads);
}

}  // namespace pgas::detail
