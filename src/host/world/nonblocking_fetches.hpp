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

/// Kernels cannot write to pageable host memory. The results go to mapped memory, and quiet() copies them to the
/// addresses of the program.
class nonblocking_fetches {
 public:
  explicit nonblocking_fetches(device& on) : device_(on) {}
  nonblocking_fetches(const nonblocking_fetches&) = delete;
  nonblocking_fetches& operator=(const nonblocking_fetches&) = delete;

  /// Calls `enqueue` with the address for a value of up to 8 bytes. The next deliver() copies the value to `result`.
  /// `complete` waits for the internal queue, and is called when all slots are in use.
  void add(void* result, std::size_t bytes, const std::function<void(void*)>& enqueue,
           const std::function<void()>& complete);
  /// Calls `complete`, then copies all values to the addresses of the program.
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
