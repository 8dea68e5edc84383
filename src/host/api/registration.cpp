// Registered buffers of teams. The buffers of all PEs belong to the team of the world.
#include "pgas/registration.hpp"

#include "common/struct_members.hpp"
#include "host/team/team_state.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas {

namespace {

/// Runs `call` with the team's registered buffers. Only one host-side collective of the team runs at a time.
template <class Call>
auto with_buffers(const team& t, const char* name, const Call& call) {
  detail::team_state& state = t.state();
  state.check();
  const detail::host_call listed(state.world(), name);
  const std::lock_guard lock(state.collective_mutex());
  return call(state.memory().registered_buffers());
}

void* add(const team& t, void* pointer, std::size_t bytes, const detail::registered_buffers::released_flag& released,
          const void* preferred = nullptr) {
  return with_buffers(t, "pgas::register_symmetric", [&](detail::registered_buffers& buffers) {
    return buffers.add(pointer, bytes, released, preferred);
  });
}

}  // namespace

void* register_symmetric(const team& t, void* pointer, std::size_t bytes) { return add(t, pointer, bytes, nullptr); }
void* register_symmetric(world& w, void* pointer, std::size_t bytes) {
  return register_symmetric(w.team(), pointer, bytes);
}
void* register_symmetric(world& w, void* pointer, std::size_t bytes, const void* preferred) {
  return add(w.team(), pointer, bytes, nullptr, preferred);
}

void unregister_symmetric(const team& t, void* alias) {
  with_buffers(t, "pgas::unregister_symmetric", [&](detail::registered_buffers& buffers) {
    t.state().world().complete();
    buffers.remove(alias);
  });
}
void unregister_symmetric(world& w, void* alias) { unregister_symmetric(w.team(), alias); }

std::size_t collect_released(const team& t) {
  return with_buffers(t, "pgas::collect_released",
                      [](detail::registered_buffers& buffers) { return buffers.collect(); });
}
std::size_t collect_released(world& w) { return collect_released(w.team()); }

void detail::count_registrations(const team& t, const wanted<registration_usage>& usage) {
  with_buffers(t, "pgas::registrations", [&](const registered_buffers& buffers) { fill(usage, buffers.usage()); });
}
void detail::count_registrations(const world& w, const wanted<registration_usage>& usage) {
  count_registrations(w.team(), usage);
}

registration::registration(const team& t, void* pointer, std::size_t bytes)
    : released_(std::make_shared<std::atomic<bool>>(false)), alias_(add(t, pointer, bytes, released_)), bytes_(bytes) {}

registration::registration(world& w, void* pointer, std::size_t bytes) : registration(w.team(), pointer, bytes) {}

void registration::release() noexcept {
  if (released_) released_->store(true, std::memory_order_release);
  released_.reset();
  alias_ = nullptr;
  bytes_ = 0;
}

}  // namespace pgas
