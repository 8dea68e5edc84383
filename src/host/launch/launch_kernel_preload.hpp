/// @file
/// The kernels that launch() can start in this process. A world loads them while joining.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "device/device.hpp"

namespace pgas::detail {

/// The kernels that launch() can start, from all libraries of this process. One object for each process. *Callers* any
/// thread; api/launch.cpp adds and removes kernels.
class launch_kernel_preload {
 public:
  /// Loads a kernel and returns the size of its stack in bytes.
  using loader = std::size_t (*)();

  [[nodiscard]] static launch_kernel_preload& of_process();
  void add(loader load);
  void remove(loader load);
  /// Loads all kernels on the device and reserves memory for the largest stack.
  void preload(device& on);

 private:
  std::mutex mutex_;
  std::vector<loader> loaders_;
};

}  // namespace pgas::detail
