#include "pgas/registration.hpp"

#include "host/team/world_state.hpp"
#include "pgas/world.hpp"

namespace pgas {

void* register_symmetric(world& w, void* pointer, std::size_t bytes) {
  detail::world_state& state = w.state();
  state.check();
  const detail::trace_range range(state, "pgas::register_symmetric");
  const std::lock_guard lock(state.collective_mutex());
  return state.heap().registered_buffers().add(pointer, bytes);
}

void unregister_symmetric(world& w, void* alias) {
  detail::world_state& state = w.state();
  state.check();
  const detail::trace_range range(state, "pgas::unregister_symmetric");
  const std::lock_guard lock(state.collective_mutex());
  state.complete();
  state.heap().registered_buffers().remove(alias);
}

registration::registration(world& w, void* pointer, std::size_t bytes)
    : world_(w.state().shared_from_this()), alias_(register_symmetric(w, pointer, bytes)), bytes_(bytes) {}

void registration::reset() noexcept {
  const std::shared_ptr<detail::world_state> world = std::move(world_);
  void* const alias = std::exchange(alias_, nullptr);
  bytes_ = 0;
  if (alias == nullptr || world->left()) return;
  try {
    if (world->unwinding()) {
      world->abandon();
      return;
    }
    const std::lock_guard lock(world->collective_mutex());
    world->check();
    world->complete();
    world->heap().registered_buffers().remove(alias);
  } catch (const error&) {
    // The world has failed: the mappings are removed when it is left.
  } catch (const std::exception& why) {
    world->fail(why.what());  // out of host memory: the other PEs would wait
  }
}

}  // namespace pgas
