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

/// Allocates grid_states in device memory. The kernels of one stream run one after another, so each stream has one
/// state. A captured kernel gets a table of states. Each run of the kernel takes a state from the table, because
/// several runs of its graph can be in progress at the same time. A team has one state for its collectives, which run
/// one after another even on different streams. The destructor releases all memory.
class grid_state_pool {
 public:
  /// @param here the context that gets the failure record of a grid barrier that ends before all blocks have arrived
  grid_state_pool(device& on, const context& here) : device_(on), here_(here) {}
  grid_state_pool(const grid_state_pool&) = delete;
  grid_state_pool& operator=(const grid_state_pool&) = delete;

  /// The state of a stream that is not being captured. *Callers* any thread. *Errors* device_failed if the device has
  /// no memory.
  [[nodiscard]] grid_state* state_of(stream_handle stream);
  /// A state that only the caller uses, until release(). *Callers*, *Errors* as state_of().
  [[nodiscard]] grid_state* take();
  /// Called when no kernel uses the state any more. *Callers* any thread.
  void release(grid_state* state) noexcept;
  /// The table for captured kernels, with grid_table_size states.
  [[nodiscard]] grid_state* table();

 private:
  [[nodiscard]] grid_state* next();
  [[nodiscard]] grid_state* make(std::size_t count);

  device& device_;
  context here_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, grid_state*> by_stream_;
  std::vector<device_block> chunks_;
  std::vector<grid_state*> free_;  ///< has capacity for all states, so that release() does not allocate
  grid_state* chunk_ = nullptr;
  std::size_t left_ = 0;  ///< the states left in the chunk
  grid_state* table_ = nullptr;
};

}  // namespace pgas::detail
