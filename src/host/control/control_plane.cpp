// The calls of a control plane. Its start is in start_control_plane.cpp. Its collectives are in
// control_collectives.cpp. Its end and its failures are in report_failure.cpp.
#include "host/control/control_plane.hpp"

#include <fmt/format.h>

#include <mutex>
#include <numeric>
#include <utility>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

std::vector<int> every_pe(int n) {
  std::vector<int> pes(static_cast<std::size_t>(n));
  std::iota(pes.begin(), pes.end(), 0);
  return pes;
}

}  // namespace

control_plane_state::~control_plane_state() { stop_reader(); }

void control_plane_state::begin_group(control_group::identity id, std::span<const int> members) {
  const std::lock_guard order(sending);
  group_exchange::messages out;
  {
    const std::lock_guard lock(mutex);
    enqueued.emplace(id, 0);
    group_exchange& made = groups.try_emplace(id, id).first->second;
    made.set_members(std::make_shared<group_layout>(members, hosts), me, clock::now(), out);
    note_progress(made, id);
  }
  deliver(out);
}

void control_plane_state::end_group(control_group::identity id) noexcept {
  const std::lock_guard lock(mutex);
  groups.erase(id);
  enqueued.erase(id);
}

control_group::identity control_plane_state::new_group() noexcept {
  constexpr int number_bits = 40;  // an identity is the number of the PE that makes it, then a count
  return (static_cast<control_group::identity>(me) + 1) << number_bits | groups_made++;
}

void control_plane_state::check() const {
  if (!failed.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex);
  throw error(*failure);
}

control_plane::control_plane(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure)
    : control_plane(std::make_shared<control_plane_state>(exchange, settings, log, std::move(on_failure))) {}
control_plane::control_plane(std::shared_ptr<control_plane_state> state)
    : control_group(state, control_group::world, every_pe(state->n())), state_(std::move(state)) {}
control_plane::~control_plane() = default;

void control_plane::joined() noexcept { state_->reached = control_plane_state::stage::joined; }
void control_plane::await_leave() { state_->await_leave(); }
void control_plane::leave() { state_->leave(); }

void control_plane::set_wait_source(wait_source source) {
  if (state_->loop)
    state_->loop->post(
        [state = state_.get(), source = std::move(source)]() mutable { state->waits = std::move(source); });
}

void control_plane::fail(std::string_view reason, log_level level) noexcept {
  try {
    state_->set_failure(
        error(code::aborted, fmt::format("{} aborted the world: {}", state_->describe(state_->me), reason), state_->me),
        level);
  } catch (const std::exception&) {
    state_->set_failure(state_->no_memory, control_plane_state::origin::here);
  }
}

void control_plane::fail(const error& cause) noexcept { state_->set_failure(cause, control_plane_state::origin::here); }

void control_plane::check() const { state_->check(); }
int control_plane::stopped_pe() const { return state_->stopped_pe(); }
bool control_plane::failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }

}  // namespace pgas::detail
