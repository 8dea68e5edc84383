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
struct device_info {
  heap_kind kind = heap_kind::host;  ///< what it was told to take
  device_properties properties;
  std::string refusal;  ///< why there is no GPU; empty where there is one
};

[[nodiscard]] blob encode(const device_info& offer);
/// *Errors* bootstrap_protocol, naming PE `pe`, for what is no offer.
[[nodiscard]] device_info decode_device_offer(const blob& bytes, int pe);

/// A PE on its device.
struct device_user {
  int host = 0;
  int process = 0;
  device_info offer;
};

/// By how many PEs, number `me` included, what its process may use of the device has to be divided: those of its
/// process, and of all processes where the device runs them side by side (MPS), whatever part of it each may use. Parts
/// start at the same multiprocessor, so where they differ it is more for the larger ones.
[[nodiscard]] unsigned concurrent_pes(std::span<const device_user> users, std::size_t me);

/// Whether another process has the same device, and kernels of the two run in turns.
[[nodiscard]] bool takes_turns(std::span<const device_user> users, std::size_t me);

/// How many blocks the library's kernels may have that wait for one another on all PEs: of each, as many as fit on its
/// device with those of the others there, twice, as the next kernel of a stream may be set up while one still runs.
/// 32 at most.
[[nodiscard]] unsigned max_collective_blocks(std::span<const device_user> users);

}  // namespace pgas::detail
