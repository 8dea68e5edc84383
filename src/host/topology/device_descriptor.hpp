/// @file
/// The description of a PE's device. PEs exchange the descriptions while joining.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device/device.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The device of a PE.
struct device_descriptor {
  heap_kind kind = heap_kind::host;  ///< the kind of heap that the PE's settings request
  device_properties properties;
  std::string refusal;      ///< the reason why the PE has no GPU; empty if the PE has a GPU
  bool is_misused = false;  ///< whether the program must be changed; if so, the PE does not continue without a GPU
};

/// A PE on its device.
struct device_user {
  int host = 0;
  int process = 0;
  device_descriptor info;
};

[[nodiscard]] blob encode(const device_descriptor& info);
/// *Errors* bootstrap_protocol, naming PE `pe`, for malformed bytes.
[[nodiscard]] device_descriptor decode_device_descriptor(std::span<const std::byte> bytes, int pe);

}  // namespace pgas::detail
