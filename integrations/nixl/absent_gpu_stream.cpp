// Implements gpu_stream.hpp in builds without CUDA's runtime. In these builds the backend supports host memory only, so
// NIXL passes it no other memory.
#include <string>

#include "gpu_stream.hpp"
#include "pgas/error.hpp"

namespace pgas::nixl {

namespace {

[[noreturn]] void refuse(memory_place place) {
  throw error(code::device_unavailable, "this plugin was built without CUDA's runtime and cannot copy memory of GPU " +
                                            std::to_string(place.ordinal));
}

}  // namespace

bool has_gpu_streams() noexcept { return false; }

gpu_stream::gpu_stream(memory_place place) : place_(place) { refuse(place_); }
gpu_stream::~gpu_stream() = default;
std::uint64_t gpu_stream::copy(const copy_list&) { refuse(place_); }
bool gpu_stream::has_reached(std::uint64_t) const { refuse(place_); }

}  // namespace pgas::nixl
