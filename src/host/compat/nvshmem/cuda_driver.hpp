/// @file
/// The few functions of the CUDA driver that libnvshmem_host needs. They are looked up at run time, so that the library
/// also works on machines without a driver.
#pragma once

#include <cstddef>

namespace pgas::compat {

/// The GPU whose context is current on this thread; -1 without a context or a driver.
[[nodiscard]] int current_device() noexcept;

/// Whether the legacy default stream of the current context has unfinished work. False if no context is current, or if
/// this stream is being captured into a graph. *Errors* device_failed if work of this context has failed.
[[nodiscard]] bool default_stream_is_busy();

/// Code that the program loaded into the current context.
struct loaded_code {
  void* handle = nullptr;  ///< a CUmodule or a CUlibrary
  bool is_library = false;

  [[nodiscard]] bool operator==(const loaded_code&) const = default;
};

/// Copies `bytes` to the variable `name` of loaded code. The variable must have this size. *Errors* invalid_argument if
/// the code has no such variable, device_failed with the driver's message.
void write_variable(const loaded_code& where, const char* name, const void* from, std::size_t bytes);

}  // namespace pgas::compat
