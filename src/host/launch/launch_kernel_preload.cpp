#include "host/launch/launch_kernel_preload.hpp"

#include <algorithm>

namespace pgas::detail {

launch_kernel_preload& launch_kernel_preload::of_process() {
  static launch_kernel_preload registry;
  return registry;
}

void launch_kernel_preload::add(loader load) {
  const std::lock_guard lock(mutex_);
  loaders_.push_back(load);
}

void launch_kernel_preload::remove(loader load) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(loaders_.begin(), loaders_.end(), load);
  if (found != loaders_.end()) loaders_.erase(found);
}

void launch_kernel_preload::preload(device& on) {
  const std::lock_guard lock(mutex_);
  std::size_t stack_bytes = 0;
  on.push_context();
  for (const loader load : loaders_) stack_bytes = std::max(stack_bytes, load());
  on.pop_context();
  on.make_room_for_stacks(stack_bytes);
}

}  // namespace pgas::detail
