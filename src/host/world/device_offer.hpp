/// @file
/// What PEs tell one another of their devices while joining, and what follows where several share one.
#pragma once

#include <span>
#include <string>

#include "device/device.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// What a PE says of its device.
struct device_offer {
  heap_kind kind = heap_kind::host;  ///< what it was told to take
  device_properties properties;
  double percentage = 100;  ///< of the device that MPS lets its process use
  std::string refusal;      ///< why there is no GPU; empty where there is one
};

[[nodiscard]] blob encode(const device_offer& offer);
/// *Errors* bootstrap_protocol, naming PE `pe`, for what is no offer.
[[nodiscard]] device_offer decode_device_offer(const blob& bytes, int pe);

/// A PE on its device.
struct device_user {
  int host = 0;
  int process = 0;
  device_offer offer;
};

/// How many PEs, number `me` included, have kernels at the same time as that one on what its process may use of the
/// device: those of its process, and of all processes where the device runs them side by side and their parts of it may
/// make more than the whole.
[[nodiscard]] unsigned pes_at_once(std::span<const device_user> users, std::size_t me);

/// How many blocks the library's kernels may have that wait for one another on all PEs: of each, as many as fit on its
/// device with those of the others there, twice, as the next kernel of a stream may be set up while one still runs.
/// 32 at most.
[[nodiscard]] unsigned blocks_at_once(std::span<const device_user> users);

}  // namespace pgas::detail
