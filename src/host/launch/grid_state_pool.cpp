#include "host/launch/grid_state_pool.hpp"

#include <utility>

namespace pgas::detail {

namespace {
constexpr std::size_t chunk = 64;
}

grid_state* grid_state_pool::state_of(stream_handle stream) {
  const std::uint64_t number = device_.number_of(stream);
  const std::lock_guard lock(mutex_);
  grid_state*& known = by_stream_[number];
  if (known == nullptr) known = next();
  return known;
}

grid_state* grid_state_pool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return next();
  grid_state* const found = free_.back();
  free_.pop_back();
  return found;
}

void grid_state_pool::release(grid_state* state) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(state);  // next() has reserved room for the entry
}

grid_state* grid_state_pool::table() {
  const std::lock_guard lock(mutex_);
  if (table_ == nullptr) table_ = make(grid_table_size);
  return table_;
}

grid_state* grid_state_pool::next() {
  if (left_ == 0) {
    free_.reserve((chunks_.size() + 1) * chunk);
    chunk_ = make(chunk);
    left_ = chunk;
  }
  return chunk_ + chunk - left_--;
}

grid_state* grid_state_pool::make(std::size_t count) {
  std::vector<grid_state> fresh(count);
  for (grid_state& state : fresh) state.here = here_;
  device_block result(device_, count * sizeof(grid_state));
  device_.copy(result.get(), fresh.data(), count * sizeof(grid_state), nullptr);
  device_.synchronize(nullptr);
  chunks_.push_back(std::move(result));
  return static_cast<grid_state*>(chunks_.back().get());
}

}  // namespace pgas::detail
