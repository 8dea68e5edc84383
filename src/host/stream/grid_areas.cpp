#include "host/stream/grid_areas.hpp"

namespace pgas::detail {

namespace {
constexpr std::size_t chunk = 64;
}

grid_areas::~grid_areas() {
  for (grid_state* states : chunks_) device_.free_local(states);
}

grid_state* grid_areas::of(stream_handle stream) {
  if (device_.capturing(stream)) {
    const std::lock_guard lock(mutex_);
    return next();
  }
  const std::uint64_t number = device_.number_of(stream);
  const std::lock_guard lock(mutex_);
  grid_state*& known = by_stream_[number];
  if (known == nullptr) known = next();
  return known;
}

grid_state* grid_areas::next() {
  if (left_ == 0) {
    std::vector<grid_state> fresh(chunk);
    for (grid_state& state : fresh) state.here = here_;
    chunks_.reserve(chunks_.size() + 1);
    auto* made = static_cast<grid_state*>(device_.allocate_local(chunk * sizeof(grid_state)));
    chunks_.push_back(made);
    device_.copy(made, fresh.data(), chunk * sizeof(grid_state), nullptr);
    device_.synchronize(nullptr);
    left_ = chunk;
  }
  return chunks_.back() + chunk - left_--;
}

}  // namespace pgas::detail
