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
/// captured kernel gets a table, of which each run takes one state: instances of its graph may run at once. A team
/// keeps one state for its collectives, which follow one another on whatever streams. All memory is released with this
/// object.
class grid_state_pool {
 public:
  /// @param here for the failure record of a grid barrier that ends without all blocks
  grid_state_pool(device& on, const context& here) : device_(on), here_(here) {}
  grid_state_pool(const grid_state_pool&) = delete;
  grid_state_pool& operator=(const grid_state_pool&) = delete;

  /// The state of a stream that is not being captured. *Callers* any thread. *Errors* device_failed where the device
  /// has no memory.
  [[nodiscard]] grid_state* of(stream_handle stream);
  /// A state for the caller alone, until release(). *Callers*, *Errors* as of().
  [[nodiscard]] grid_state* take();
  /// No kernel uses it any more. *Callers* any thread.
  void release(grid_state* state) noexcept;
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
  std::vector<grid_state*> free_;  ///< with room for all
  grid_state* chunk_ = nullptr;
  std::size_t left_ = 0;  ///< of the chunk
  grid_state* table_ = nullptr;
};

}  // namespace pgas::detail
