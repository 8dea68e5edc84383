/// @file
/// The kernels of this process that launch() may start, which a world loads while joining.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "device/device.hpp"

namespace pgas::detail {

/// The kernels of launch() that all libraries of this process contain: one for each process. *Callers* any thread;
/// api/launch.cpp adds and removes kernels.
class launch_kernel_preload {
 public:
  /// Loads a kernel and returns the bytes of its stack.
  using loader = std::size_t (*)();

  [[nodiscard]] static launch_kernel_preload& of_process();
  void add(loader load);
  void remove(loader load);
  /// Loads all kernels on the device and sets memory for the largest stack aside.
  void preload(device& on);

 private:
  std::mutex mutex_;
  std::vector<loader> loaders_;
};

}  // namespace pgas::detail
