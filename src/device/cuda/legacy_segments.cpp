#include "device/cuda/legacy_segments.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "device/cuda/primary_context.hpp"

namespace pgas::detail::cuda {

namespace {

/// The handles that this process has exported. The driver cannot open handles of its own process.
class own_exports {
 public:
  struct block {
    CUdeviceptr at = 0;
    int ordinal = 0;
  };
  using name = std::array<std::byte, 64>;

  void add(const name& handle, block what) {
    const std::lock_guard lock(mutex_);
    blocks_[handle] = what;
  }
  void remove(CUdeviceptr at) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [at](const auto& entry) { return entry.second.at == at; });
  }
  [[nodiscard]] std::optional<block> find(const name& handle) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(handle);
    return found == blocks_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<name, block> blocks_;
};

own_exports& exports_of_process() {
  static own_exports all;
  return all;
}

CUdeviceptr pointer(segment_id segment) { return static_cast<CUdeviceptr>(segment); }

static_assert(sizeof(CUipcMemHandle) == sizeof(own_exports::name));

}  // namespace

segment_id legacy_segments::create(std::size_t bytes) {
  if (bytes == 0 || bytes % block_bytes != 0)
    throw error(code::invalid_argument, fmt::format("a segment of {} bytes is not a multiple of 2 MiB", bytes));
  CUdeviceptr at = 0;
  const CUresult result = driver().alloc(&at, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(driver().memory_info(&free, &total));
    throw error(code::out_of_memory, fmt::format("GPU {} has {} of {} MiB free, {} MiB do not fit", ordinal_,
                                                 free >> 20, total >> 20, bytes >> 20));
  }
  check(result, fmt::format("cuMemAlloc of {} MiB", bytes >> 20));
  try {
    if (at % block_bytes != 0)
      throw error(code::device_failed,
                  fmt::format("cuMemAlloc of {} MiB gave an address inside a block of 2 MiB, which "
                              "a handle would share whole",
                              bytes >> 20));
    return keep(at, origin::allocated);
  } catch (...) {
    static_cast<void>(driver().free(at));
    throw;
  }
}

exported_handle legacy_segments::export_segment(segment_id segment) const {
  CUipcMemHandle handle{};
  check(driver().ipc_export(&handle, pointer(segment)), "cuIpcGetMemHandle");
  exported_handle exported;
  exported.kind = handle_kind::cuda_ipc;
  std::memcpy(exported.bytes.data(), &handle, sizeof handle);
  exports_of_process().add(exported.bytes, {pointer(segment), ordinal_});
  return exported;
}

segment_id legacy_segments::import_segment(const exported_handle& handle, std::size_t bytes) {
  if (const std::optional<own_exports::block> own = exports_of_process().find(handle.bytes)) {
    if (own->ordinal != ordinal_) {
      const primary_context owner(own->ordinal);
      const CUresult result = driver().enable_peer(owner.get(), 0);
      if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        check(result, "cuCtxEnablePeerAccess (see nvidia-smi topo -p2p rw)", code::handle_exchange);
    }
    return keep(own->at, origin::of_this_process);
  }
  CUipcMemHandle opened{};
  std::memcpy(&opened, handle.bytes.data(), sizeof opened);
  CUdeviceptr at = 0;
  // If the handle is already open in this context, the driver only increments a count and returns the same address.
  check(driver().ipc_open(&at, opened, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
        fmt::format("opening a peer's {} MiB (cuIpcOpenMemHandle; containers may need a common PID and IPC namespace)",
                    bytes >> 20),
        code::handle_invalid);
  try {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    check(driver().address_range(&base, &size, at), "cuMemGetAddressRange");
    if (size - (at - base) < bytes)
      throw error(code::handle_invalid,
                  fmt::format("the handle leads to {} bytes instead of {}", size - (at - base), bytes));
    return keep(at, origin::opened);
  } catch (...) {
    static_cast<void>(driver().ipc_close(at));
    throw;
  }
}

segment_id legacy_segments::keep(CUdeviceptr at, origin from) {
  const std::lock_guard lock(mutex_);
  segments_.emplace(segment_id{at}, from);
  return segment_id{at};
}

void* legacy_segments::address_of(segment_id segment) const {
  const std::lock_guard lock(mutex_);
  return segments_.contains(segment) ? reinterpret_cast<void*>(pointer(segment)) : nullptr;
}

legacy_segments::origin legacy_segments::take(segment_id segment) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return origin::of_this_process;
  const origin from = found->second;
  segments_.erase(found);
  if (from == origin::allocated) exports_of_process().remove(pointer(segment));
  return from;
}

void legacy_segments::destroy(segment_id segment) noexcept {
  const origin from = take(segment);
  if (from == origin::allocated) static_cast<void>(driver().free(pointer(segment)));
  if (from == origin::opened) static_cast<void>(driver().ipc_close(pointer(segment)));
}

}  // namespace pgas::detail::cuda
