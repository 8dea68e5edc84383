/// @file
/// The descriptor of a PE's GPU, for tests of PEs that share GPUs.
#pragma once

#include <string>

#include "host/topology/device_descriptor.hpp"

namespace pgas::unit_test {

/// @param side_by_side the GPU runs kernels of several processes at the same time, as under MPS
inline detail::device_descriptor gpu_descriptor(const std::string& uuid, unsigned multiprocessors,
                                                bool side_by_side = false) {
  detail::device_descriptor gpu;
  gpu.kind = heap_kind::cuda;
  gpu.properties.name = "GPU";
  gpu.properties.uuid = uuid;
  gpu.properties.multiprocessors = multiprocessors;
  gpu.properties.runs_processes_at_once = side_by_side;
  return gpu;
}

}  // namespace pgas::unit_test
