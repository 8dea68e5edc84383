/// @file
/// What the blocks of a launch share on a GPU, a place for each stream.
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"
#include "device/owned_memory.hpp"
#include "pgas/device/impl/grid_barrier.hpp"

namespace pgas::detail {

/// Hands out grid_states in device memory. Kernels of one stream follow one another, so a stream keeps its own; a launch that
/// is captured gets one for itself, as its graph may run on any stream. All are given back with this object.
class grid_areas {
 public:
  /// @param here what a meeting that has to give up needs to know
  grid_areas(device& on, const context& here) : device_(on), here_(here) {}
  grid_areas(const grid_areas&) = delete;
  grid_areas& operator=(const grid_areas&) = delete;

  /// *Callers* any thread. *Errors* device_failed where the device has no memory.
  [[nodiscard]] grid_state* of(stream_handle stream);

 private:
  [[nodiscard]] grid_state* next();

  device& device_;
  context here_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, grid_state*> by_stream_;
  std::vector<local_block> chunks_;
  std::size_t left_ = 0;  ///< of the last chunk
};

/// Loads the kernels of launch() that this process knows of. *Callers* whoever has just made the device of a world.
void load_announced_kernels(device& on);

}  // namespace pgas::detail
