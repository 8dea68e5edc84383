#include "device/cuda/cuda_device.hpp"

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "device/cuda/choose_gpu.hpp"
#include "device/cuda/reachable_list.hpp"
#include "device/visible_gpus.hpp"
#include "pgas/detail/poll_fairness.hpp"

namespace pgas::detail::cuda {

namespace {

/// The time that a kernel may run after the world has failed. Waits of kernels check the abort word every few
/// microseconds.
constexpr std::int64_t end_timeout_ms = 1500;
/// A wait polls the stream for about 50 us without pauses, because a yield takes longer than a poll. Most small copies
/// end in this time. Then the wait polls with yields, and after about half a millisecond the wait sleeps.
constexpr int short_polls = 200;
constexpr int quick_polls = 1000;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The contexts that push_context() has made current on this thread, the innermost last.
thread_local std::vector<std::unique_ptr<current_context>> entered;

CUmemGenericAllocationHandle handle_of(segment_id segment) {
  return static_cast<CUmemGenericAllocationHandle>(segment);
}
CUdeviceptr pointer(void* address) { return reinterpret_cast<CUdeviceptr>(address); }

CUmemAllocationHandleType type_of(handle_kind kind) {
  return kind == handle_kind::fabric ? CU_MEM_HANDLE_TYPE_FABRIC : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

static_assert(sizeof(CUmemFabricHandle) == sizeof(exported_handle::bytes));

nvtxDomainHandle_t profiler_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("pgas");
  return domain;
}

}  // namespace

cuda_device::cuda_device(int ordinal) : ordinal_(ordinal), legacy_(ordinal) {
  check(driver().primary_retain(&context_, ordinal), "cuDevicePrimaryCtxRetain", code::device_unavailable);
  try {
    set_up();
  } catch (...) {
    release();
    throw;
  }
}

void cuda_device::set_up() {
  const current_context current(context_);
  properties_.kind = heap_kind::cuda;
  properties_.name = name_of(ordinal_);
  properties_.uuid = text_of(uuid_of_gpu(ordinal_));
  properties_.pci = pci_address_of(ordinal_);
  properties_.ordinal = ordinal_;
  check(driver().device_memory(&properties_.memory_bytes, ordinal_), "cuDeviceTotalMem");
  properties_.multiprocessors = static_cast<unsigned>(attribute_of(ordinal_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  properties_.runs_processes_at_once = has(CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  reaches_pageable_ = has(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  granularity_ = legacy_segments::block_bytes;
  if (has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) {
    const CUmemAllocationProp any = allocation_properties(handle_kind::posix_fd);
    check(driver().granularity(&granularity_, &any, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
          "cuMemGetAllocationGranularity");
  }
  internal_ = make_stream(0);
  result_ = allocate_mapped(128);
  kernels_.emplace(ordinal_);
  make_room_for_stacks(kernels_->stack_bytes());
  properties_.registers =
      static_cast<unsigned>(attribute_of(ordinal_, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  properties_.proxy_registers = kernels_->registers_of(library_kernel::updates);
}

cuda_device::~cuda_device() {
  if (!lost_kernel_) release();
}

void cuda_device::release() noexcept {
  const relaxed_capture_scope undisturbed;
  if (const quiet_context current(context_); current) {
    if (internal_ != nullptr) static_cast<void>(driver().stream_destroy(internal_));
    if (result_.host != nullptr) free_mapped(result_);
  }
  static_cast<void>(driver().primary_release(ordinal_));
}

CUstream cuda_device::make_stream(int priority) {
  CUstream stream = nullptr;
  check(driver().stream_create(&stream, CU_STREAM_NON_BLOCKING, priority), "cuStreamCreateWithPriority");
  return stream;
}

CUstream cuda_device::stream_of(stream_handle stream) const noexcept {
  return stream != nullptr ? static_cast<CUstream>(stream) : internal_;
}

mapped_memory cuda_device::allocate_mapped(std::size_t bytes) {
  const current_context current(context_);
  void* host = nullptr;
  check(driver().host_alloc(&host, bytes, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
  std::unique_ptr<void, decltype(driver().host_free)> owned(host, driver().host_free);
  std::fill_n(static_cast<unsigned char*>(host), bytes, static_cast<unsigned char>(0));
  CUdeviceptr address = 0;
  check(driver().host_pointer(&address, host, 0), "cuMemHostGetDevicePointer");
  return {owned.release(), reinterpret_cast<void*>(address)};
}

void cuda_device::free_mapped(mapped_memory memory) noexcept {
  if (lost_kernel_) return;
  const quiet_context current(context_);
  if (!current) return;
  static_cast<void>(driver().host_free(memory.host));
}

void* cuda_device::allocate_device(std::size_t bytes) {
  const current_context current(context_);
  CUdeviceptr memory = 0;
  check(driver().alloc(&memory, bytes), "cuMemAlloc", code::out_of_memory);
  auto* const address = reinterpret_cast<void*>(memory);
  try {
    fill(address, 0, bytes, nullptr);
    synchronize(nullptr);
  } catch (...) {
    static_cast<void>(driver().free(memory));
    throw;
  }
  return address;
}

void cuda_device::free_device(void* memory) noexcept {
  if (lost_kernel_) return;
  const quiet_context current(context_);
  if (!current) return;
  static_cast<void>(driver().free(pointer(memory)));
}

// ---- physical memory, and the virtual layout: see "Virtual Memory Management" in the documentation of the CUDA driver
// API

remote_writes cuda_device::order_of_remote_writes(bool for_peers) const noexcept {
  if (!has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)) return remote_writes::visible;
  const int needed =
      for_peers ? CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES : CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER;
  if (attribute_of(ordinal_, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING) >= needed)
    return remote_writes::visible;
  const int ways = attribute_of(ordinal_, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
  return (ways & CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST) != 0 ? remote_writes::after_flush : remote_writes::never;
}

void cuda_device::flush_remote_writes(bool for_peers) {
  const in_context current(context_);
  check(driver().flush_rdma(
            CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
            for_peers ? CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES : CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
        "cuFlushGPUDirectRDMAWrites");
}

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
  // The attribute may report fabric handles although cuMemCreate refuses them (no IMEX channel). The probe shows
  // whether they work.
  if (has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED)) kinds.push_back(handle_kind::fabric);
  if (has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) kinds.push_back(handle_kind::posix_fd);
  kinds.push_back(handle_kind::cuda_ipc);  // the last choice, because with this kind the heap cannot grow
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
    static_cast<void>(driver().memory_info(&free, &total));
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
    // The driver expects the number of the descriptor in the pointer parameter.
    auto* descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(handle.fd.get()));
    check(driver().import_handle(&imported, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), what,
          code::handle_invalid);
  }
  return static_cast<segment_id>(imported);
}

void cuda_device::map(void* address, std::size_t bytes, segment_id segment) {
  const current_context current(context_);
  // cuMemMap checks the size of the handle, and fails if the segment is smaller than `bytes`.
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
  const quiet_context current(context_);
  if (lost_kernel_ || !current) return legacy_.forget(segment);
  legacy_.destroy(segment);
}

void cuda_device::destroy(segment_id segment) noexcept {
  const relaxed_capture_scope undisturbed;
  if (legacy_.address_of(segment) != nullptr) return destroy_legacy(segment);
  if (!lost_kernel_) static_cast<void>(driver().release(handle_of(segment)));
  const std::lock_guard lock(handles_mutex_);
  // Erases only a single entry, because memory that is registered twice has two entries with the same handle.
  const auto known =
      std::find_if(created_.begin(), created_.end(), [segment](const auto& entry) { return entry.first == segment; });
  if (known != created_.end()) created_.erase(known);
}

// ---- streams and operations

bool cuda_device::idle(stream_handle stream) {
  if (capturing(stream)) return true;
  const in_context current(context_);
  const relaxed_capture_scope undisturbed;
  return driver().stream_query(stream_of(stream)) != CUDA_ERROR_NOT_READY;
}

void cuda_device::check_work(stream_handle stream) {
  const current_context current(context_);
  // An error of any kernel stays in the context. Each later call reports it.
  if (const CUresult state = driver().stream_query(stream_of(stream)); is_failed_work(state))
    check(state,
          "a kernel or other work of this process has failed on its GPU, and the process can no longer use the GPU "
          "(compute-sanitizer finds the kernel)");
}

bool cuda_device::capturing(stream_handle stream) {
  const in_context current(context_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver().stream_is_capturing(stream_of(stream), &status), "querying whether a stream is being captured");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

stream_handle cuda_device::wrap_stream(void* native) { return native != nullptr ? native : CU_STREAM_LEGACY; }

stream_handle cuda_device::create_stream() {
  const current_context current(context_);
  CUstream stream = make_stream(0);
  const std::lock_guard lock(streams_.mutex);
  streams_.numbers.insert(number_of_stream(stream));
  return stream;
}

stream_handle cuda_device::create_urgent_stream() {
  const current_context current(context_);
  int least = 0;
  int greatest = 0;
  check(driver().ctx_priorities(&least, &greatest), "cuCtxGetStreamPriorityRange");
  return make_stream(greatest);
}

void cuda_device::destroy_stream(stream_handle stream) noexcept {
  try {
    synchronize(stream);
  } catch (const error&) {
    // The kernel ended with an error, or does not end.
  }
  if (lost_kernel_) return;
  const quiet_context current(context_);
  if (!current) return;
  {
    const std::lock_guard lock(streams_.mutex);
    unsigned long long number = 0;
    if (driver().stream_id(static_cast<CUstream>(stream), &number) == CUDA_SUCCESS) streams_.numbers.erase(number);
    static_cast<void>(driver().stream_destroy(static_cast<CUstream>(stream)));
  }
}

std::uint64_t cuda_device::number_of(stream_handle stream) {
  if (stream != CU_STREAM_PER_THREAD) return device::number_of(stream);
  constexpr std::uint64_t no_address = std::uint64_t{1} << 63;
  const in_context current(context_);
  return no_address | number_of_stream(CU_STREAM_PER_THREAD);
}

void cuda_device::synchronize(stream_handle stream) {
  const bool internal = stream == nullptr;
  const std::uint64_t due = enqueued_.load(std::memory_order_acquire);
  if (internal && done_.load(std::memory_order_acquire) >= due) return;
  const current_context current(context_);
  // Polls, because cuStreamSynchronize() does not return if a kernel does not end.
  for (int polls = 0;; ++polls) {
    const CUresult state = driver().stream_query(stream_of(stream));
    if (state != CUDA_ERROR_NOT_READY) {
      check(state, "waiting for a stream");
      if (internal) note_done(due);
      return;
    }
    if (const std::int64_t failed = failed_at_ms_; failed != 0 && now_ms() - failed > end_timeout_ms) {
      lost_kernel_ = true;
      throw error(code::device_failed,
                  "a kernel still runs although the world has failed: it waits for something that pgas can't end. Its "
                  "memory is kept until the process ends");
    }
    if (polls >= quick_polls)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    else if (polls >= short_polls)
      yield_now_and_then();
  }
}

void cuda_device::note_done(std::uint64_t count) noexcept {
  std::uint64_t known = done_.load(std::memory_order_relaxed);
  while (known < count && !done_.compare_exchange_weak(known, count, std::memory_order_release)) {
  }
}

void cuda_device::world_failed() noexcept { failed_at_ms_ = now_ms(); }

void cuda_device::copy(void* to, const void* from, std::size_t bytes, stream_handle stream) {
  const enqueuing on(*this, stream);
  const auto remote = reinterpret_cast<CUdeviceptr>(to);
  check(driver().copy_async(remote, reinterpret_cast<CUdeviceptr>(from), bytes, on.stream()), "copying");
}

void cuda_device::fill(void* at, unsigned char value, std::size_t bytes, stream_handle stream) {
  const enqueuing on(*this, stream);
  check(driver().fill_async(pointer(at), value, bytes, on.stream()), "filling memory");
}

std::unique_ptr<stream_order> cuda_device::make_stream_order() {
  return std::make_unique<cuda_stream_order>(context_, streams_);
}

void cuda_device::collective(const context& context, const team_view& team, const collective_request& request,
                             grid_state* blocks, stream_handle stream) {
  const enqueuing on(*this, stream);
  kernels_->collective(context, team, request, blocks, on.stream());
}

void cuda_device::make_room_for_stacks(std::size_t bytes) {
  const current_context current(context_);
  std::size_t limit = 0;
  check(driver().ctx_limit(&limit, CU_LIMIT_STACK_SIZE), "asking how large stacks may be");
  if (limit < bytes) {
    check(driver().ctx_set_limit(CU_LIMIT_STACK_SIZE, bytes), "making room for the stacks of kernels",
          code::out_of_memory);
  } else if (limit >= used_stack_bytes) {  // the driver can delay the allocation until a kernel uses the stack
    const enqueuing on(*this, nullptr);
    kernels_->use_stack(on.stream());
  }
}

void cuda_device::push_context() { entered.push_back(std::make_unique<current_context>(context_)); }
void cuda_device::pop_context() noexcept { entered.pop_back(); }

void cuda_device::range_push(const char* name) noexcept {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(profiler_domain(), &event);
}

void cuda_device::range_pop() noexcept { nvtxDomainRangePop(profiler_domain()); }

void cuda_device::enqueue(const operation_request& request, stream_handle stream) {
  const enqueuing on(*this, stream);
  if (request.what == operation_request::kind::strided && !(reaches(request.to) && reaches(request.from)))
    return copy_blocks(request, on.stream());
  kernels_->operation(request, on.stream());
}

void cuda_device::enqueue(const list_request& request, stream_handle stream) {
  const enqueuing on(*this, stream);
  const reachable_list arrays(request.list, on.stream());
  list_request reachable = request;
  reachable.list = arrays.list();
  kernels_->list(reachable, on.stream());
}

void cuda_device::copy_blocks(const operation_request& request, CUstream stream) {
  auto* to = static_cast<std::byte*>(request.to);
  const auto* from = static_cast<const std::byte*>(request.from);
  constexpr std::int64_t largest_pitch = 0x7fffffff;
  const auto width = static_cast<std::int64_t>(request.bytes);
  const auto is_pitch = [&](std::int64_t step) { return step >= width && step <= largest_pitch; };
  if (is_pitch(request.to_step) && is_pitch(request.from_step)) {
    CUDA_MEMCPY2D what{};
    what.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    what.srcDevice = reinterpret_cast<CUdeviceptr>(from);
    what.srcPitch = static_cast<std::size_t>(request.from_step);
    what.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    what.dstDevice = pointer(to);
    what.dstPitch = static_cast<std::size_t>(request.to_step);
    what.WidthInBytes = request.bytes;
    what.Height = request.count;
    check(driver().copy_2d_async(&what, stream), "copying blocks");
    return;
  }
  for (std::uint64_t i = 0; i < request.count; ++i, to += request.to_step, from += request.from_step)
    check(driver().copy_async(pointer(to), reinterpret_cast<CUdeviceptr>(from), request.bytes, stream),
          "copying a block");
}

void cuda_device::update(std::span<batched_atomic> list, stream_handle stream) {
  const enqueuing on(*this, stream);
  kernels_->updates(list, on.stream());
}

std::uint64_t cuda_device::fetch(const operation_request& request) {
  const std::lock_guard lock(result_mutex_);
  operation_request fetching = request;
  fetching.result = result_.device;
  *static_cast<std::uint64_t*>(result_.host) = 0;  // zeroed, because values of fewer than 8 bytes leave the upper bytes
  enqueue(fetching, nullptr);
  synchronize(nullptr);
  return *static_cast<const std::uint64_t*>(result_.host);
}

void cuda_device::snapshot(void* to, const void* from, std::size_t count, std::size_t word_bytes) {
  // The words are copied by copy engines, which do not split aligned words and need no multiprocessor. Spinning kernels
  // can occupy all multiprocessors.
  copy(to, from, count * word_bytes, nullptr);
  synchronize(nullptr);
}

std::vector<clock_reading> cuda_device::read_clock() {
  constexpr std::uint32_t rounds = 32;
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  const auto in_ns = [](auto time) { return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count(); };
  const std::lock_guard lock(result_mutex_);
  // The words of the clock kernel follow the word of fetch() in result_, and no other code clears them. So a clock
  // kernel that starts after the timeout below still reads the last value of `asked`, and ends.
  constexpr std::size_t place = 64;
  auto& shared = *new (static_cast<std::byte*>(result_.host) + place) clock_rounds;
  std::atomic_ref asked(shared.asked);
  const std::atomic_ref answered(shared.answered);
  {
    const enqueuing on(*this, nullptr);
    auto* const remote = reinterpret_cast<clock_rounds*>(static_cast<std::byte*>(result_.device) + place);
    kernels_->read_clock(remote, rounds, on.stream());
  }
  std::vector<clock_reading> all;
  const auto limit = now() + std::chrono::seconds(10);
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const auto before = now();
    asked.store(round, std::memory_order_release);
    while (answered.load(std::memory_order_acquire) < round)
      if (now() > limit) {
        asked.store(rounds, std::memory_order_release);  // so that a kernel that begins later also ends
        throw error(code::device_failed,
                    "reading the GPU's clock for PGAS_TRACE: no kernel has started for ten seconds, because other "
                    "processes use the GPU; start MPS (nvidia-cuda-mps-control -d), or run without PGAS_TRACE");
      }
    all.push_back({in_ns(before), static_cast<std::int64_t>(shared.time), in_ns(now())});
  }
  synchronize(nullptr);
  return all;
}

bool cuda_device::is_pageable(const void* memory) {
  const current_context current(context_);
  return cuda::is_pageable(memory);
}

bool cuda_device::reaches(const void* memory) {
  const current_context current(context_);
  return is_reachable(memory, reaches_pageable_);
}

}  // namespace pgas::detail::cuda

namespace pgas::detail {

std::unique_ptr<device> make_cuda_device(const config& settings, int local_rank) {
  using namespace cuda;
  const int visible = visible_gpus();
  if (visible == 0)
    throw error(code::device_unavailable, "no GPU is visible to this process (CUDA_VISIBLE_DEVICES may hide them)");
  if (settings.device >= visible)
    throw error(code::device_unavailable, fmt::format("PGAS_DEVICE={}, but this process sees {} GPUs, numbered from 0",
                                                      settings.device, visible));
  return std::make_unique<cuda_device>(choose_gpu(driver(), settings.device, local_rank % visible));
}

}  // namespace pgas::detail
