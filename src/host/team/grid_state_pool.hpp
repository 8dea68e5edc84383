/// @file
/// What the blocks of a launch share on a GPU, a place for each stream.
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"
#include "device/shared/owned_memory.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas::detail {

/// Hands out grid_states in device memory. Kernels of one stream follow one another, so a stream keeps its own; a
/// collective that is captured gets one for itself, as its graph may run on any stream. For a kernel that is captured
/// there is a table, of which each of its runs takes one, as instances of its graph may run at once. (Collectives of
/// one team must not.) All are given back with this object.
class grid_state_pool {
 public:
  /// @param here what a meeting that has to give up needs to know
  grid_state_pool(device& on, const context& here) : device_(on), here_(here) {}
  grid_state_pool(const grid_state_pool&) = delete;
  grid_state_pool& operator=(const grid_state_pool&) = delete;

  /// *Callers* any thread. *Errors* device_failed where the device has no memory.
  [[nodiscard]] grid_state* of(stream_handle stream);
  /// The same for all: grid_table_size states.
  [[nodiscard]] grid_state* table();

 private:
  [[nodiscard]] grid_state* next();
  [[nodiscard]] grid_state* make(std::size_t count);

  device& device_;
  context here_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, grid_state*> by_stream_;
  std::vector<local_block> chunks_;
  grid_state* chunk_ = nullptr;
  std::size_t left_ = 0;  ///< of the chunk
  grid_state* table_ = nullptr;
};

/// Loads the kernels of launch() that this process knows of. *Callers* whoever has just made the device of a world.
void preload_kernels(device& on);

}  // namespace pgas::detail
