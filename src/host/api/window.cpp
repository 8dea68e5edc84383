#include "pgas/window.hpp"

#include <utility>

#include "host/team/window_state.hpp"
#include "host/world/host_call.hpp"
#include "pgas/error.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas {

window::window() noexcept = default;
window::window(window&& other) noexcept = default;
window& window::operator=(window&& other) noexcept = default;
window::~window() = default;

window::window(const team& t, void* pointer, std::size_t bytes) {
  detail::team_state& state = t.state();
  state.check();
  const detail::host_call listed(state.world(), "pgas::window");
  const std::lock_guard lock(state.collective_mutex());
  state_ = detail::window_state::make(state, pointer, bytes);
}
window::window(world& w, void* pointer, std::size_t bytes) : window(w.team(), pointer, bytes) {}

const detail::window_state& window::state() const {
  if (state_ == nullptr) throw error(code::invalid_argument, "this window is empty: it was moved from, or never made");
  return *state_;
}

int window::n_pes() const { return state().n_pes(); }
void* window::at(int pe) const { return state().part(pe).at; }
std::size_t window::bytes(int pe) const { return state().part(pe).bytes; }
window_view window::view() const { return state().view(); }

}  // namespace pgas
