// Stands in for cuda/ in a build without CUDA.
#include "device/device.hpp"
#include "device/stream_sync.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

[[noreturn]] void refuse(const char* instead) {
  throw error(code::device_unavailable,
              std::string("this pgas was built without CUDA: build it where nvcc is, or ") + instead);
}

}  // namespace

std::unique_ptr<device> make_cuda_device(const config&, int) { refuse("set PGAS_HEAP=host"); }

std::unique_ptr<stream_word> make_cuda_stream_word(int, std::span<std::byte>, std::uint64_t*) {
  refuse("make the timeline on the host");
}
gpu_uuid uuid_of_gpu(int) { refuse("use memory of the host"); }
int find_gpu(const gpu_uuid&) { refuse("use memory of the host"); }
std::unique_ptr<device_event> make_device_event(int) { refuse("use a timeline on the host"); }
std::unique_ptr<device_event> open_device_event(int, const event_handle&) { refuse("use a timeline on the host"); }

}  // namespace pgas::detail
