/// @file
/// The results of fetches that the program does not wait for.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "device/owned_device_memory.hpp"

namespace pgas::detail {

/// Kernels can't write to pageable host memory: results go to mapped memory, and quiet() copies them to their places.
class nonblocking_fetches {
 public:
  explicit nonblocking_fetches(device& on) : device_(on) {}
  nonblocking_fetches(const nonblocking_fetches&) = delete;
  nonblocking_fetches& operator=(const nonblocking_fetches&) = delete;

  /// Calls `enqueue` with the address for a value of up to 8 bytes; the next deliver() copies it to `result`.
  /// `complete` waits for the internal queue, and is called where all slots are taken.
  void add(void* result, std::size_t bytes, const std::function<void(void*)>& enqueue,
           const std::function<void()>& complete);
  /// Waits by `complete`, then copies all values to their places.
  void deliver(const std::function<void()>& complete);

 private:
  struct entry {
    void* result;
    std::size_t bytes;
  };
  void copy_out(const std::function<void()>& complete);

  device& device_;
  std::mutex mutex_;
  mapped_block room_;
  std::vector<entry> entries_;
};

}  // namespace pgas::detail
