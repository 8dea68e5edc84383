#include "host/control/control_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

control_group::control_group(const std::shared_ptr<control_plane_state>& state, identity id, std::vector<int> members)
    : state_(state), id_(id), members_(std::move(members)) {
  me_ = static_cast<int>(std::find(members_.begin(), members_.end(), state->me) - members_.begin());
  state->begin_group(id_, members_);
}

control_group::control_group(const control_group& among, identity id, std::vector<int> members)
    : control_group(among.state().shared_from_this(), id, std::move(members)) {}

control_group::~control_group() {
  const std::shared_ptr<control_plane_state> state = state_.lock();
  if (state && state->owner.in_creator()) state->end_group(id_);  // in a forked child the mutex may stay locked
}

control_plane_state& control_group::state() const {
  control_plane_state* const state =
      state_.lock().get();  // the control plane keeps the state, and callers do not leave the world during a call
  if (state == nullptr) throw error(code::not_joined, "this world was left; no collective call can be made any more");
  return *state;
}

const peer_info& control_group::peer(int member) const {
  if (member < 0 || member >= n_pes())
    throw error(code::pe_out_of_range, fmt::format("PE {} does not exist, PEs are 0 to {}", member, n_pes() - 1),
                member);
  return state().peers[static_cast<std::size_t>(world_pe(member))];
}

std::vector<contribution> control_group::all_gather(std::span<const std::byte> mine, std::span<const int> fds) const {
  return state().gather(*this, mine, fds);
}

blob control_group::reduce(blob mine, std::function<void(blob&, std::span<const std::byte>)> combine) const {
  return state().run(id_, collective::reduce, std::move(mine), {}, std::move(combine)).value;
}

void control_group::barrier() const { static_cast<void>(state().run(id_, collective::barrier, {}, {}, {})); }

control_group::identity control_group::new_identity() const { return state().new_group(); }

void control_group::count_enqueued(bool captured) const { state().count_enqueued(id_, captured); }

}  // namespace pgas::detail
