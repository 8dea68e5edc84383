// Stands in for cuda/sharing.cpp in a build without CUDA.
#include "device/sharing.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

[[noreturn]] void refuse() {
  throw error(code::device_unavailable,
              "this pgas was built without CUDA: build it where nvcc is, or share host memory (memory_place::host())");
}

}  // namespace

bool is_gpu_memory(const void*) noexcept { return false; }
std::unique_ptr<exportable_memory> make_gpu_memory(int, std::size_t, access) { refuse(); }
std::unique_ptr<exportable_memory> adopt_gpu_memory(void*, std::size_t, access, whole_block) { refuse(); }
std::unique_ptr<mapped_import> import_gpu_memory(const sharing_description&, std::span<shared_piece>, int) { refuse(); }

}  // namespace pgas::detail
