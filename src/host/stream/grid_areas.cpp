#include "host/stream/grid_areas.hpp"

#include <utility>

namespace pgas::detail {

namespace {
constexpr std::size_t chunk = 64;
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
    local_block made(device_, chunk * sizeof(grid_state));
    device_.copy(made.get(), fresh.data(), chunk * sizeof(grid_state), nullptr);
    device_.synchronize(nullptr);
    chunks_.push_back(std::move(made));
    left_ = chunk;
  }
  return static_cast<grid_state*>(chunks_.back().get()) + chunk - left_--;
}

}  // namespace pgas::detail
