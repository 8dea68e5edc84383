// Replaces cuda/ in a build without CUDA.
#include "device/device.hpp"
#include "device/device_event.hpp"
#include "device/enqueued_work.hpp"
#include "device/gpu_facts.hpp"
#include "device/list_copies.hpp"
#include "device/sharing.hpp"
#include "device/stream_words.hpp"
#include "device/visible_gpus.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

[[noreturn]] void refuse(const char* instead) {
  throw error(code::device_unavailable,
              std::string("this pgas was built without CUDA: build it where nvcc is, or ") + instead);
}

constexpr const char* share_host = "share host memory (memory_place::host())";

}  // namespace

std::unique_ptr<device> make_cuda_device(const config&, int) { refuse("set PGAS_HEAP=host"); }

std::unique_ptr<stream_words> make_cuda_stream_words(int, std::span<std::byte>) {
  refuse("make the timeline on the host");
}
void copy_list_on_gpu(int, void*, const copy_list&, unsigned) { refuse("copy on the host (memory_place::host())"); }
gpu_survey survey_gpus() { refuse("use the host heap"); }
gpu_uuid uuid_of_gpu(int) { refuse("use memory of the host"); }
std::optional<int> find_gpu(const gpu_uuid&) { refuse("use memory of the host"); }
std::unique_ptr<device_event> make_device_event(int) { refuse("use a timeline on the host"); }
std::unique_ptr<device_event> adopt_device_event(int, void*) { refuse("use a timeline on the host"); }
std::unique_ptr<device_event> open_device_event(int, const event_handle&) { refuse("use a timeline on the host"); }

std::unique_ptr<enqueued_work> work_of_gpus() { refuse("use the host heap"); }

bool is_gpu_memory(const void*) noexcept { return false; }
std::unique_ptr<exportable_memory> make_gpu_memory(int, std::size_t, access) { refuse(share_host); }
std::unique_ptr<exportable_memory> adopt_gpu_memory(void*, std::size_t, access, whole_block) { refuse(share_host); }
std::unique_ptr<mapped_import> import_gpu_memory(const sharing_description&, std::span<shared_piece>, int) {
  refuse(share_host);
}

}  // namespace pgas::detail
