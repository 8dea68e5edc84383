#include "host/team/team_state.hpp"

#include <utility>

#include "host/world/world_state.hpp"

namespace pgas::detail {

team_state::team_state(world_state& world, const team_view& view, std::vector<int> members, std::mutex* mutex)
    : world_(world), view_(view), members_(std::move(members)), config_{view.n_channels()}, mutex_(mutex != nullptr ? mutex : &own_mutex_) {}

team_state::~team_state() {
  if (stream_ != nullptr) world_.device().destroy_stream(stream_);
}

std::shared_ptr<world_state> team_state::shared_world() const { return world_.shared_from_this(); }

stream_handle team_state::stream() {
  const std::lock_guard lock(stream_mutex_);
  if (stream_ == nullptr) stream_ = world_.device().create_stream();
  return stream_;
}

}  // namespace pgas::detail
