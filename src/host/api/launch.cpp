// What launch() needs of the library: the device of the world, its blocks' common state, and grids on the host heap.
#include "pgas/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "device/grid.hpp"
#include "host/team/grid_limit.hpp"
#include "host/team/grid_state_pool.hpp"
#include "host/team/world_state.hpp"

namespace pgas::detail {

namespace {

unsigned crew_of(const world_state& state, unsigned threads) {
  return std::min(threads, static_cast<unsigned>(state.settings().host_block_threads));
}

/// Of all libraries of the process.
struct announced_kernels {
  std::mutex mutex;
  std::vector<std::size_t (*)()> loads;

  static announced_kernels& all() {
    static announced_kernels list;
    return list;
  }
};

}  // namespace

registered_kernel::registered_kernel(std::size_t (*load)()) : load_(load) {
  announced_kernels& list = announced_kernels::all();
  const std::lock_guard lock(list.mutex);
  list.loads.push_back(load);
}

registered_kernel::~registered_kernel() {
  announced_kernels& list = announced_kernels::all();
  const std::lock_guard lock(list.mutex);
  const auto mine = std::find(list.loads.begin(), list.loads.end(), load_);
  if (mine != list.loads.end()) list.loads.erase(mine);
}

void preload_kernels(device& on) {
  announced_kernels& list = announced_kernels::all();
  const std::lock_guard lock(list.mutex);
  std::size_t stack_bytes = 0;
  on.push_context();
  for (std::size_t (*const load)() : list.loads) stack_bytes = std::max(stack_bytes, load());
  on.pop_context();
  on.make_room_for_stacks(stack_bytes);
}

device_guard::device_guard(world& w) : world_(w) { w.state().device().push_context(); }
device_guard::~device_guard() { world_.state().device().pop_context(); }

grid_place grid_area(world& w, const stream& on) {
  const stream_handle native = on.native(w.state());
  grid_state_pool& areas = w.state().grids();
  if (w.state().device().capturing(native)) return {areas.table(), true};
  return {areas.of(native), false};
}

error does_not_fit(unsigned long long blocks, unsigned threads, unsigned fit, const char* otherwise) {
  return {code::launch_failed,
          fmt::format(
              "launch: {} blocks of {} threads do not run all at once: this PE's part of the GPU holds {} of this "
              "kernel (with PEs beyond load and store, beside the proxy's). Blocks that wait for others would wait for "
              "ever: launch fewer, or {} if none of them waits",
              blocks, threads, fit, otherwise)};
}

unsigned admitted_blocks(world& w, const resident_kernel& kernel) {
  world_state& state = w.state();
  const unsigned all = state.domains().only_one() ? kernel.each * kernel.multiprocessors
                                                  : blocks_beside_proxy(kernel, state.device().properties());
  return all / state.concurrent_pes();
}

void run_grid(world& w, const stream& on, const launch_shape& shape, std::function<void(const cpu_block&)> member) {
  world_state& state = w.state();
  run_grid_on_cpu(state.device(), on.native(w.state()), {shape.blocks, crew_of(state, shape.threads), shape.resident},
                  std::move(member));
}

unsigned resident_on_cpu(world& w, unsigned threads) { return most_threads_at_once / crew_of(w.state(), threads); }

}  // namespace pgas::detail
