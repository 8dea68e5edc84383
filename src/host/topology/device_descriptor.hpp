/// @file
/// What a PE tells the others of its device while joining.
#pragma once

#include <string>

#include "device/device.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The device of a PE.
struct device_descriptor {
  heap_kind kind = heap_kind::host;  ///< as its settings ask for
  device_properties properties;
  std::string refusal;      ///< the reason why there is no GPU; empty where there is one
  bool is_misused = false;  ///< the refusal is for the program to mend, and no reason to do without a GPU
};

/// A PE on its device.
struct device_user {
  int host = 0;
  int process = 0;
  device_descriptor info;
};

[[nodiscard]] blob encode(const device_descriptor& info);
/// *Errors* bootstrap_protocol, naming PE `pe`, for malformed bytes.
[[nodiscard]] device_descriptor decode_device_descriptor(const blob& bytes, int pe);

}  // namespace pgas::detail
