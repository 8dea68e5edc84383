// Physical memory and the virtual layout of the GPU backend. See "Virtual Memory Management" in the documentation of
// the CUDA driver API.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/cuda/cuda_device.hpp"

namespace pgas::detail::cuda {

remote_writes cuda_device::order_of_remote_writes(bool for_peers) const noexcept {
  if (!has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)) return remote_writes::visible;
  const int needed =
      for_peers ? CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES : CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER;
  if (value_of(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING) >= needed) return remote_writes::visible;
  const int ways = value_of(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
  return (ways & CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST) != 0 ? remote_writes::after_flush : remote_writes::never;
}

void cuda_device::flush_remote_writes(bool for_peers) {
  const in_context current(context_);
  check(driver().flush_rdma(
            CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
            for_peers ? CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES : CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
        "cuFlushGPUDirectRDMAWrites");
}

namespace {

CUmemGenericAllocationHandle handle_of(segment_id segment) {
  return static_cast<CUmemGenericAllocationHandle>(segment);
}
CUdeviceptr pointer(void* address) { return reinterpret_cast<CUdeviceptr>(address); }

CUmemAllocationHandleType type_of(handle_kind kind) {
  return kind == handle_kind::fabric ? CU_MEM_HANDLE_TYPE_FABRIC : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

static_assert(sizeof(CUmemFabricHandle) == sizeof(exported_handle::bytes));

}  // namespace

CUmemAllocationProp cuda_device::allocation_properties(handle_kind kind) const {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = type_of(kind);
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = ordinal_;
  // Allows network cards to read and write the heap if the system supports it. On other systems this flag is 0.
  wanted.allocFlags.gpuDirectRDMACapable = has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) ? 1 : 0;
  return wanted;
}

void* cuda_device::reserve(std::size_t bytes, void* hint) {
  const current_context current(context_);
  CUdeviceptr got = 0;
  const CUresult result = driver().address_reserve(&got, bytes, granularity_, pointer(hint), 0);
  if (hint != nullptr) {
    if (result == CUDA_SUCCESS && got == pointer(hint)) return hint;
    if (result == CUDA_SUCCESS) static_cast<void>(driver().address_free(got, bytes));
    return nullptr;
  }
  check(result, fmt::format("reserving {} GiB of addresses (cuMemAddressReserve)", bytes >> 30), code::address_space);
  return reinterpret_cast<void*>(got);
}

void cuda_device::release(void* address, std::size_t bytes) noexcept {
  const relaxed_capture_scope undisturbed;
  if (!lost_kernel_) static_cast<void>(driver().address_free(pointer(address), bytes));
}

std::vector<handle_kind> cuda_device::handle_kinds() const {
  std::vector<handle_kind> kinds;
  // The attribute may report fabric handles although cuMemCreate refuses them (no IMEX channel). The probe decides.
  if (has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED)) kinds.push_back(handle_kind::fabric);
  if (has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) kinds.push_back(handle_kind::posix_fd);
  kinds.push_back(handle_kind::cuda_ipc);  // the last choice, because the heap cannot grow
  return kinds;
}

segment_id cuda_device::create(std::size_t bytes, handle_kind kind) {
  const current_context current(context_);
  if (places(kind)) return legacy_.create(bytes);
  const CUmemAllocationProp wanted = allocation_properties(kind);
  CUmemGenericAllocationHandle handle = 0;
  const CUresult result = driver().create(&handle, bytes, &wanted, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(cudaMemGetInfo(&free, &total));
    throw error(code::out_of_memory, fmt::format("{} has {} of {} MiB free, a segment of {} MiB does not fit",
                                                 properties_.name, free >> 20, total >> 20, bytes >> 20));
  }
  check(result, fmt::format("cuMemCreate of {} MiB as {} handle", bytes >> 20,
                            kind == handle_kind::fabric ? "fabric" : "descriptor"));
  const auto segment = static_cast<segment_id>(handle);
  const std::lock_guard lock(handles_mutex_);
  created_.emplace_back(segment, kind);
  return segment;
}

exported_handle cuda_device::export_segment(segment_id segment) {
  if (legacy_.address_of(segment) != nullptr) {
    const current_context current(context_);
    return legacy_.export_segment(segment);
  }
  exported_handle exported;
  {
    const std::lock_guard lock(handles_mutex_);
    const auto known =
        std::find_if(created_.begin(), created_.end(), [segment](const auto& entry) { return entry.first == segment; });
    if (known == created_.end()) throw error(code::handle_invalid, "only a segment created by this PE can be exported");
    exported.kind = known->second;
  }
  if (exported.kind == handle_kind::fabric) {
    check(driver().export_handle(exported.bytes.data(), handle_of(segment), CU_MEM_HANDLE_TYPE_FABRIC, 0),
          "cuMemExportToShareableHandle (fabric)");
  } else {
    int fd = -1;
    check(driver().export_handle(&fd, handle_of(segment), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemExportToShareableHandle (descriptor)");
    exported.fd = unique_fd(fd);
  }
  return exported;
}

segment_id cuda_device::import_segment(const exported_handle& handle, std::size_t bytes) {
  const current_context current(context_);
  if (places(handle.kind)) return legacy_.import_segment(handle, bytes);
  CUmemGenericAllocationHandle imported = 0;
  const std::string what = fmt::format("importing a peer's segment of {} MiB", bytes >> 20);
  if (handle.kind == handle_kind::fabric) {
    auto name = handle.bytes;
    check(driver().import_handle(&imported, name.data(), CU_MEM_HANDLE_TYPE_FABRIC), what, code::handle_invalid);
  } else {
    if (!handle.fd) throw error(code::handle_invalid, what + ": no descriptor came with the handle");
    // The driver takes the descriptor itself in the pointer parameter.
    auto* descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(handle.fd.get()));
    check(driver().import_handle(&imported, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), what,
          code::handle_invalid);
  }
  return static_cast<segment_id>(imported);
}

void cuda_device::map(void* address, std::size_t bytes, segment_id segment) {
  const current_context current(context_);
  // The driver refuses a segment smaller than `bytes` here: cuMemMap checks the size of the handle.
  check(driver().map(pointer(address), bytes, 0, handle_of(segment), 0), fmt::format("cuMemMap of {} MiB", bytes >> 20),
        code::handle_invalid);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = ordinal_;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  try {
    check(driver().set_access(pointer(address), bytes, &access, 1),
          "cuMemSetAccess (can this GPU reach the peer's? see nvidia-smi topo -p2p rw)", code::handle_exchange);
  } catch (const error&) {
    unmap(address, bytes);
    throw;
  }
}

void cuda_device::unmap(void* address, std::size_t bytes) noexcept {
  const relaxed_capture_scope undisturbed;
  if (!lost_kernel_) static_cast<void>(driver().unmap(pointer(address), bytes));
}

std::vector<external_segment> cuda_device::retain(void* pointer, std::size_t bytes, handle_kind kind) {
  const current_context current(context_);
  std::vector<external_segment> pieces;
  try {
    for (std::size_t done = 0; done < bytes; done += pieces.back().bytes)
      pieces.push_back(retain_piece(static_cast<std::byte*>(pointer) + done, bytes - done, kind));
  } catch (...) {
    for (const external_segment& piece : pieces) destroy(piece.segment);
    throw;
  }
  return pieces;
}

external_segment cuda_device::retain_piece(void* at, std::size_t most, handle_kind kind) {
  CUmemGenericAllocationHandle handle = 0;
  check(driver().retain_handle(&handle, at),
        fmt::format("{} is not memory made by cuMemCreate (memory of cudaMalloc can't be registered): "
                    "cuMemRetainAllocationHandle",
                    at),
        code::invalid_argument);
  try {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    check(driver().address_range(&base, &bytes, pointer(at)), "cuMemGetAddressRange", code::invalid_argument);
    if (base != pointer(at))
      throw error(code::invalid_argument,
                  fmt::format("{} lies {} bytes inside a cuMemCreate allocation: pass the start of the allocation", at,
                              pointer(at) - base));
    if (bytes > most)
      throw error(code::invalid_argument,
                  fmt::format("the allocation at {} has {} bytes, and only {} were passed: pass whole allocations", at,
                              bytes, most));
    CUmemAllocationProp has{};
    check(driver().properties_of(&has, handle), "cuMemGetAllocationPropertiesFromHandle", code::invalid_argument);
    if (has.location.type != CU_MEM_LOCATION_TYPE_DEVICE || has.location.id != ordinal_)
      throw error(code::invalid_argument, fmt::format("the allocation at {} is not on this PE's GPU ({}, device {})",
                                                      at, properties_.name, ordinal_));
    if ((static_cast<unsigned>(has.requestedHandleTypes) & static_cast<unsigned>(type_of(kind))) == 0)
      throw error(
          code::handle_exchange,
          fmt::format("the allocation at {} can't be exported as {}, the heap's kind of handle: add that kind to "
                      "requestedHandleTypes of cuMemCreate, or set PGAS_MEM_HANDLE to a kind that the allocation has",
                      at, kind == handle_kind::fabric ? "fabric handle" : "descriptor"));
    const auto segment = static_cast<segment_id>(handle);
    const std::lock_guard lock(handles_mutex_);
    created_.emplace_back(segment, kind);
    return {segment, bytes};
  } catch (...) {
    static_cast<void>(driver().release(handle));
    throw;
  }
}

void cuda_device::destroy_legacy(segment_id segment) noexcept {
  if (lost_kernel_ || driver().ctx_push(context_) != CUDA_SUCCESS) return legacy_.forget(segment);
  legacy_.destroy(segment);
  CUcontext ignored = nullptr;
  static_cast<void>(driver().ctx_pop(&ignored));
}

void cuda_device::destroy(segment_id segment) noexcept {
  const relaxed_capture_scope undisturbed;
  if (legacy_.address_of(segment) != nullptr) return destroy_legacy(segment);
  if (!lost_kernel_) static_cast<void>(driver().release(handle_of(segment)));
  const std::lock_guard lock(handles_mutex_);
  // Erases one entry only, because memory that was registered twice has two entries with the same handle.
  const auto known =
      std::find_if(created_.begin(), created_.end(), [segment](const auto& entry) { return entry.first == segment; });
  if (known != created_.end()) created_.erase(known);
}

}  // namespace pgas::detail::cuda
