#include "pgas/timeline.hpp"

#include <mutex>
#include <utility>

#include "common/struct_members.hpp"
#include "host/share/timeline_state.hpp"
#include "pgas/error.hpp"

namespace pgas {

timeline::timeline() noexcept = default;
timeline::timeline(timeline&& other) noexcept = default;
timeline& timeline::operator=(timeline&& other) noexcept = default;
timeline::~timeline() = default;

timeline::timeline(std::shared_ptr<detail::timeline_state> state) noexcept : state_(std::move(state)) {}

timeline timeline::make(memory_place place) { return timeline(detail::timeline_state::make(place)); }

timeline timeline::open_ticket(std::string_view ticket, const detail::given<open_options>& options) {
  return timeline(
      detail::timeline_state::open(detail::decode(ticket, detail::ticket_kind::timeline), detail::taken(options)));
}

detail::timeline_state& timeline::state() const {
  if (state_ == nullptr)
    throw error(code::invalid_argument,
                "this timeline object is empty: it was moved from, or was never created or opened");
  state_->check_process();
  return *state_;
}

std::string timeline::make_ticket(const detail::given<ticket_options>& options) {
  const std::lock_guard lock(state().mutex());
  return state_->shared().make_ticket(detail::taken(options));
}

void timeline::revoke() {
  const std::lock_guard lock(state().mutex());
  state_->shared().mine().revoke();
}

void timeline::list_openers(const detail::wanted_list<opener>& found) const {
  const std::lock_guard lock(state().mutex());
  detail::fill(found, state_->shared().mine().opened_by());
}

void timeline::record(void* stream, std::uint64_t value) { state().record(stream, value); }
void timeline::set(std::uint64_t value) { state().set(value); }
void timeline::wait(void* stream, std::uint64_t value) { state().wait(stream, value); }
std::uint64_t timeline::query() const { return state().query(); }
std::uint64_t timeline::recorded() const { return state().recorded(); }
void timeline::wait_host(std::uint64_t value, std::chrono::milliseconds timeout) const {
  state().wait_host(value, timeout);
}

std::uint64_t* timeline::word() const { return state().word(); }
memory_place timeline::place() const { return state().place(); }
bool timeline::alive() const { return !state().find_loss(); }
void timeline::check() const {
  if (const auto lost = state().find_loss()) state_->throw_loss(*lost);
}

}  // namespace pgas
