/// @file
/// The few functions of the CUDA driver that libnvshmem_host needs, found at run time: it works on machines without
/// one.
#pragma once

#include <cstddef>

namespace pgas::capi {

/// The GPU whose context is current on this thread; -1 if none is, or there is no driver.
[[nodiscard]] int current_device() noexcept;

/// Whether the legacy default stream of the current context still has something to do. False where no context is current,
/// and while a graph is captured that this stream would become part of.
[[nodiscard]] bool default_stream_is_busy() noexcept;

/// Code that the program loaded into the current context.
struct loaded_code {
  void* handle = nullptr;  ///< a CUmodule or a CUlibrary
  bool is_library = false;

  [[nodiscard]] bool operator==(const loaded_code&) const = default;
};

/// Copies to the variable `name` of loaded code, where it must be `bytes` large. *Errors* invalid_argument where there
/// is no such variable, device_failed with the driver's words.
void write_variable(const loaded_code& where, const char* name, const void* from, std::size_t bytes);

}  // namespace pgas::capi
