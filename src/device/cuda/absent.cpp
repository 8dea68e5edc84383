// Stands in for cuda/ in a build without CUDA.
#include "device/device.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

std::unique_ptr<device> make_cuda_device(const config&, int) {
  throw error(code::device_unavailable,
              "this pgas was built without CUDA: build it where nvcc is, or set PGAS_HEAP=host");
}

}  // namespace pgas::detail
