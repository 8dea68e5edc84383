/// @file
/// Atomic operations that the host asks for, on host memory.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace pgas::detail {

/// Carries out the request and gives the old value as a bit pattern. Atomic with respect to everyone who maps the word.
/// *Order* acquire; release too if the request says so. *Errors* misaligned, invalid_argument for an operation that the
/// type does not have.
[[nodiscard]] std::uint64_t update_atomically(const atomic_request& request);

}  // namespace pgas::detail
