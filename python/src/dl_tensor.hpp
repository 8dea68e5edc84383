/// @file
/// DLPack's description of an array, a memory layout for the exchange of arrays between libraries. The structs are
/// copied from dlpack.h of https://github.com/dmlc/dlpack, which allows such copies.
#pragma once

#include <cstdint>

namespace pgas::python {

struct dl_tensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  ///< elements; null: C order
  std::uint64_t byte_offset;
};
static_assert(sizeof(dl_tensor) == 48);

constexpr std::int32_t on_cpu = 1;
constexpr std::int32_t on_cuda = 2;

}  // namespace pgas::python
