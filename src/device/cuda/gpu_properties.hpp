/// @file
/// The properties of a GPU that the driver reports without a context. `ordinal` is the number of the GPU in this
/// process. *Callers* any thread.
#pragma once

#include <string>

#include "device/cuda/driver.hpp"

namespace pgas::detail::cuda {

/// The value of an attribute; 0 if the driver does not know the attribute. With attributes that are flags, has() tells
/// whether the flag is set.
[[nodiscard]] int attribute_of(int ordinal, CUdevice_attribute attribute) noexcept;
[[nodiscard]] inline bool has(int ordinal, CUdevice_attribute attribute) noexcept {
  return attribute_of(ordinal, attribute) != 0;
}
/// The product's name. *Errors* device_unavailable.
[[nodiscard]] std::string name_of(int ordinal);
/// The address on the PCI bus, for example "0000:19:00.0".
[[nodiscard]] std::string pci_address_of(int ordinal);
/// The compute capability times ten, for example 90.
[[nodiscard]] unsigned compute_capability_of(int ordinal) noexcept;

}  // namespace pgas::detail::cuda
