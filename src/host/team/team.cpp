#include "pgas/team.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/team/team_state.hpp"
#include "host/world/world_state.hpp"

namespace pgas {

namespace {

/// The state of a team whose world still stands.
detail::team_state& checked(const team& t) {
  t.state().world().check();
  return t.state();
}

void check_member(const detail::team_state& state, int pe, const char* what) {
  const int n = state.view().n_pes();
  if (pe < 0 || pe >= n)
    throw error(code::pe_out_of_range, fmt::format("{}: the team has no PE {}, its PEs are 0 to {}", what, pe, n - 1));
}

}  // namespace

team::team() noexcept = default;
team::team(std::shared_ptr<detail::team_state> state) noexcept : state_(std::move(state)) {}
team::team(team&&) noexcept = default;

team& team::operator=(team&& other) noexcept {
  if (this != &other) {
    const team left_behind(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

team::~team() = default;

team::operator bool() const noexcept { return state_ != nullptr; }

detail::team_state& team::state() const {
  if (!state_) throw error(code::invalid_argument, "this team is empty: the PE is not a member, or the team was destroyed or moved from");
  return *state_;
}

int team::my_pe() const { return checked(*this).view().my_pe(); }
int team::n_pes() const { return checked(*this).view().n_pes(); }

int team::world_pe(int pe) const {
  const detail::team_state& state = checked(*this);
  check_member(state, pe, "team::world_pe");
  return state.members()[static_cast<std::size_t>(pe)];
}

int team::translate_pe(int pe, const team& to) const {
  const int there = world_pe(pe);
  const detail::team_state& other = checked(to);
  if (&other.world() != &state_->world())
    throw error(code::invalid_argument, "team::translate_pe: the teams are of two different worlds");
  for (std::size_t i = 0; i < other.members().size(); ++i)
    if (other.members()[i] == there) return static_cast<int>(i);
  return -1;
}

const team_config& team::config() const { return checked(*this).config(); }
std::shared_ptr<detail::world_state> team::world_state() const { return state().shared_world(); }
team_view team::view() const { return checked(*this).view(); }

context team::context() const {
  const detail::team_state& state = checked(*this);
  pgas::context ctx = state.world().context();
  detail::set_team(ctx, state.view());
  return ctx;
}

}  // namespace pgas
