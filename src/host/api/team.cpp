#include "pgas/team.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/struct_members.hpp"
#include "host/team/team_state.hpp"
#include "host/world/check_layout.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/detail/host/untyped_operations.hpp"

namespace pgas {

namespace {

/// The state of a team. Throws if the team cannot be used.
detail::team_state& checked(const team& t) {
  t.state().check();
  return t.state();
}

void check_member(const detail::team_state& state, int pe, const char* what) {
  const int n = state.view().n_pes();
  if (pe < 0 || pe >= n)
    throw error(code::pe_out_of_range, fmt::format("{}: the team has no PE {}, its PEs are 0 to {}", what, pe, n - 1));
}

}  // namespace

namespace detail {

void destroy_or_abandon(team_state& team, int exceptions) noexcept {
  team.world().destroy_object(exceptions, [&] { team.destroy(); });  // a team not destroyed here ends with its world
}

}  // namespace detail

team::team() noexcept = default;
team::team(std::shared_ptr<detail::team_state> state) noexcept : state_(std::move(state)) {}
team::team(team&&) noexcept = default;

void team::destroy() {
  if (!state_) return;
  state_->destroy();
  state_.reset();
}

team::operator bool() const noexcept { return state_ != nullptr; }

detail::team_state& team::state() const {
  if (!state_)
    throw error(code::invalid_argument,
                "this team is empty: the PE is not a member, or the team was destroyed or moved from");
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
  const int position = world_pe(pe);
  const detail::team_state& other = checked(to);
  if (&other.world() != &state_->world())
    throw error(code::invalid_argument, "team::translate_pe: the teams are of two different worlds");
  for (std::size_t i = 0; i < other.members().size(); ++i)
    if (other.members()[i] == position) return static_cast<int>(i);
  return -1;
}

const team_config& team::config() const { return checked(*this).config(); }
std::shared_ptr<detail::world_state> team::world_state() const { return state().shared_world(); }
void team::fill_view(team_view& result, std::uint32_t layout) const {
  detail::check_layout("team::view", layout);
  result = checked(*this).view();
}

void team::fill_context(pgas::context& result, std::uint32_t layout, bool direct) const {
  detail::check_layout("team::context", layout);
  if (direct) checked(*this).check_direct();
  result = checked(*this).context();
}

team team::make_strided(int start, int stride, int size, const detail::given<team_config>& how) const {
  detail::split_call call;
  call.what = detail::split_call::kind::strided;
  call.start = start;
  call.stride = stride;
  call.size = size;
  call.configure(detail::taken(how));
  return team(detail::split(state(), call));
}

std::pair<team, team> team::make_2d(int x_range, const detail::given<team_config>& x_how,
                                    const detail::given<team_config>& y_how) const {
  detail::split_call call;
  call.what = detail::split_call::kind::rows;
  call.size = x_range;
  call.configure(detail::taken(x_how));
  team row(detail::split(state(), call));
  call.what = detail::split_call::kind::columns;
  call.configure(detail::taken(y_how));
  try {
    return {std::move(row), team(detail::split(state(), call))};
  } catch (const error&) {
    row.destroy();  // the error is thrown on all members
    throw;
  }
}

team team::make_by_color(int color, int key, const detail::given<team_config>& how) const {
  detail::split_call call;
  call.what = detail::split_call::kind::colors;
  call.color = color;
  call.key = key;
  call.configure(detail::taken(how));
  return team(detail::split(state(), call));
}

team team::make_list(std::span<const int> members, const detail::given<team_config>& how) const {
  detail::split_call call;
  call.what = detail::split_call::kind::list;
  call.configure(detail::taken(how));
  return team(detail::split(state(), call, members));
}

team team::make_group(std::span<const int> members, std::uint64_t key, const detail::given<team_config>& how) const {
  return team(detail::make_group(state(), members, key, detail::taken(how)));
}

void* team::allocate_bytes(std::size_t count, std::size_t size, std::size_t alignment, initialize how) const {
  detail::team_state& state = this->state();
  state.check();
  const detail::host_call listed(state.world(), "pgas::team::allocate");
  const std::lock_guard lock(state.collective_mutex());
  state.world().check_device();
  const std::size_t bytes = detail::byte_count(count, size);
  void* memory = state.memory().allocate(bytes, alignment, how == initialize::zero);
  if (how == initialize::zero && memory != nullptr) {
    state.world().device().fill(memory, 0, bytes, nullptr);
    state.world().synchronize(nullptr);
    state.group().barrier();
  }
  return memory;
}

void team::free(void* pointer) const {
  detail::team_state& state = this->state();
  state.check();
  const detail::host_call listed(state.world(), "pgas::team::free");
  const std::lock_guard lock(state.collective_mutex());
  state.memory().free(pointer);
}

}  // namespace pgas
