#include "pgas/ipc_event.hpp"

#include <mutex>
#include <utility>

#include "common/struct_members.hpp"
#include "host/share/event_state.hpp"
#include "pgas/error.hpp"

namespace pgas {

ipc_event::ipc_event() noexcept = default;
ipc_event::ipc_event(ipc_event&& other) noexcept = default;
ipc_event& ipc_event::operator=(ipc_event&& other) noexcept = default;
ipc_event::~ipc_event() = default;

ipc_event::ipc_event(std::shared_ptr<detail::event_state> state) noexcept : state_(std::move(state)) {}

ipc_event ipc_event::make(memory_place place) { return ipc_event(detail::event_state::make(place)); }

ipc_event ipc_event::share(memory_place place, void* event) {
  return ipc_event(detail::event_state::share(place, event));
}

ipc_event ipc_event::open_ticket(std::string_view ticket, const detail::given<open_options>& options) {
  return ipc_event(detail::event_state::open(ticket, detail::taken(options)));
}

detail::event_state& ipc_event::state() const {
  if (state_ == nullptr)
    throw error(code::invalid_argument,
                "this event object is empty: it was moved from, or was never created or opened");
  if (!state_->is_of_this_process())
    throw error(code::forked_process, "this event belongs to the parent process: a child of fork() must open a ticket");
  return *state_;
}

std::string ipc_event::make_ticket(const detail::given<ticket_options>& options) {
  const std::lock_guard lock(state().mutex());
  return state_->shared().make_ticket(detail::taken(options));
}
void ipc_event::revoke() {
  const std::lock_guard lock(state().mutex());
  state_->shared().mine().revoke();
}
void ipc_event::list_openers(const detail::wanted_list<opener>& found) const {
  const std::lock_guard lock(state().mutex());
  detail::fill(found, state_->shared().mine().opened_by());
}

void* ipc_event::cuda_event() const { return state().native(); }
std::uint64_t ipc_event::record(void* stream) { return state().record(stream); }
std::uint64_t ipc_event::records() const { return state().records(); }
void ipc_event::wait(void* stream) { state().wait(stream); }
bool ipc_event::reached() const { return state().reached(); }
void ipc_event::check() const { state().check(); }

}  // namespace pgas
