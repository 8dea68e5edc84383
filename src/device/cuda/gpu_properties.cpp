#include "device/cuda/gpu_properties.hpp"

#include <fmt/format.h>

#include <array>

namespace pgas::detail::cuda {

int attribute_of(int ordinal, CUdevice_attribute attribute) noexcept {
  int value = 0;
  return driver().attribute(&value, attribute, ordinal) == CUDA_SUCCESS ? value : 0;
}

std::string name_of(int ordinal) {
  std::array<char, 256> name{};
  check(driver().device_name(name.data(), static_cast<int>(name.size()), ordinal), "cuDeviceGetName",
        code::device_unavailable);
  return name.data();
}

std::string pci_address_of(int ordinal) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", attribute_of(ordinal, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                     attribute_of(ordinal, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                     attribute_of(ordinal, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

unsigned compute_capability_of(int ordinal) noexcept {
  return static_cast<unsigned>(attribute_of(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                               attribute_of(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

}  // namespace pgas::detail::cuda
