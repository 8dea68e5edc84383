// What launch() needs of the library: the device of the world, its blocks' common state, and grids on the host heap.
#include "pgas/launch.hpp"

#include <algorithm>

#include "device/grid.hpp"
#include "host/stream/grid_areas.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

unsigned crew_of(const world_state& state, unsigned threads) {
  return std::min(threads, static_cast<unsigned>(state.settings().crew));
}

}  // namespace

device_guard::device_guard(world& w) : world_(w) { w.state().device().enter(); }
device_guard::~device_guard() { world_.state().device().leave(); }

grid_state* grid_area(world& w, const stream& on) { return w.state().grids().of(on.native(w.state())); }
unsigned pes_at_once(world& w) { return w.state().pes_at_once(); }

void run_grid(world& w, const stream& on, const launch_shape& shape, std::function<void(const thread_crew&)> member) {
  world_state& state = w.state();
  run_grid_on_cpu(state.device(), on.native(w.state()), {shape.blocks, crew_of(state, shape.threads), shape.resident},
                  std::move(member));
}

unsigned resident_on_cpu(world& w, unsigned threads) { return most_threads_at_once / crew_of(w.state(), threads); }

}  // namespace pgas::detail
