/// @file
/// Values that host-called operations are still to fetch.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "device/shared/owned_memory.hpp"

namespace pgas::detail {

/// Kernels can't write to any host memory, so the values wait in memory that they can, until quiet() hands them on.
class pending_fetches {
 public:
  explicit pending_fetches(device& on) : device_(on) {}
  pending_fetches(const pending_fetches&) = delete;
  pending_fetches& operator=(const pending_fetches&) = delete;

  /// Calls `enqueue` with the address where a value of up to 8 bytes is to be left; `result` gets it in the next deliver().
  /// `complete` waits for the internal queue, and is called where there is no more room.
  void add(void* result, std::size_t bytes, const std::function<void(void*)>& enqueue, const std::function<void()>& complete);
  /// Waits by `complete`, then hands on all values.
  void deliver(const std::function<void()>& complete);

 private:
  struct entry {
    void* result;
    std::size_t bytes;
  };
  void hand_on(const std::function<void()>& complete);

  device& device_;
  std::mutex mutex_;
  mapped_block room_;
  std::vector<entry> entries_;
};

}  // namespace pgas::detail
