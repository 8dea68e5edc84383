/// @file
/// The state that the blocks of a launch share on a GPU. *Callers* launch() and collectives.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas::detail {

/// Allocates grid_states in device memory. Kernels of one stream follow one another, so a stream keeps one state. A
/// captured collective gets a state of its own, as its graph may run on any stream. A captured kernel gets a table, of
/// which each run takes one state: instances of its graph may run at once. (Collectives of one team must not.) All are
/// released with this object.
class grid_state_pool {
 public:
  /// @param here for the failure record of a grid barrier that ends without all blocks
  grid_state_pool(device& on, const context& here) : device_(on), here_(here) {}
  grid_state_pool(const grid_state_pool&) = delete;
  grid_state_pool& operator=(const grid_state_pool&) = delete;

  /// *Callers* any thread. *Errors* device_failed where the device has no memory.
  [[nodiscard]] grid_state* of(stream_handle stream);
  /// The table for captured kernels: grid_table_size states.
  [[nodiscard]] grid_state* table();

 private:
  [[nodiscard]] grid_state* next();
  [[nodiscard]] grid_state* make(std::size_t count);

  device& device_;
  context here_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, grid_state*> by_stream_;
  std::vector<device_block> chunks_;
  grid_state* chunk_ = nullptr;
  std::size_t left_ = 0;  ///< of the chunk
  grid_state* table_ = nullptr;
};

}  // namespace pgas::detail
