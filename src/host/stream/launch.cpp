// What launch() needs of the library: the device of the world, and grids on the host heap.
#include "pgas/launch.hpp"

#include <algorithm>

#include "device/grid.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

device_guard::device_guard(world& w) : world_(w) { w.state().device().enter(); }
device_guard::~device_guard() { world_.state().device().leave(); }

void run_grid(world& w, const stream& on, unsigned blocks, unsigned threads, std::function<void(const thread_crew&)> member) {
  world_state& state = w.state();
  const unsigned crew = std::min(threads, static_cast<unsigned>(state.settings().crew));
  run_grid_on_cpu(state.device(), on.native(), blocks, crew, std::move(member));
}

}  // namespace pgas::detail
