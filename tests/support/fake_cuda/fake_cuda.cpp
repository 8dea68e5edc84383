// A CUDA driver (libcuda.so.1) without a GPU, which tests use in place of the real one (LD_LIBRARY_PATH). CPU threads,
// one for each stream, take the place of the GPU, and host memory takes the place of GPU memory. So the library's GPU
// backend runs in tests on machines without a GPU, except for kernels of programs, which are machine code.
//
// Settings: FAKE_CUDA_VERSION, the version of CUDA that the driver supports (default: 13000); FAKE_CUDA_LACKS, a
// function that the driver does not have; FAKE_CUDA_INIT, the result of cuInit; FAKE_CUDA_GPUS (default: 1). As in the
// real driver, CUDA_VISIBLE_DEVICES names the GPUs that the process sees.
#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fake_capture.hpp"
#include "fake_kernels.hpp"
#include "fake_memory.hpp"
#include "fake_stream.hpp"

namespace fake_cuda {
namespace {

const char* setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}
int number(const char* name, const char* otherwise) { return std::atoi(setting(name, otherwise)); }

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// The state of the driver in this process. The state is never destroyed, because threads of streams use it.
struct driver {
  fake_cuda::memory memory;
  std::mutex mutex;  ///< guards streams
  std::unordered_map<CUstream, std::shared_ptr<stream>> streams{{CU_STREAM_LEGACY, stream::make()},
                                                                {CU_STREAM_PER_THREAD, stream::make()}};
  std::size_t stack_bytes = 1024;

  driver() {
    streams.at(CU_STREAM_LEGACY)->is_legacy = true;
    streams.at(CU_STREAM_PER_THREAD)->waits_for_legacy = true;
  }

  [[nodiscard]] std::shared_ptr<stream> find(CUstream which) {
    const std::lock_guard lock(mutex);
    return streams.at(which == nullptr ? CU_STREAM_LEGACY : which);
  }
  static driver& get() {
    static auto& item = *new driver;
    return item;
  }
};

memory& all_memory() { return driver::get().memory; }

template <class F>
CUresult enqueue(CUstream to, F work) {
  const std::shared_ptr<stream> on = driver::get().find(to);
  if (const auto captured = captures::get().add(on, [work](stream& launched) { launched.enqueue(work); }))
    return *captured;
  on->enqueue(work);
  return CUDA_SUCCESS;
}

/// A function that captures forbid, like the calls that CUDA's manual calls potentially unsafe.
template <auto Function>
struct unsafe;
template <class... Arguments, CUresult (*Function)(Arguments...)>
struct unsafe<Function> {
  static CUresult call(Arguments... arguments) {
    const CUresult refused = captures::get().refuse_unsafe();
    return refused != CUDA_SUCCESS ? refused : Function(arguments...);
  }
};

// ---- devices and contexts

/// The context of GPU g is the address of element g of this array.
std::array<char, 16> contexts;
thread_local std::vector<CUcontext> current;

CUcontext context_of(CUdevice gpu) { return reinterpret_cast<CUcontext>(&contexts[static_cast<std::size_t>(gpu)]); }

/// The numbers of the GPUs that the process sees.
const std::vector<int>& visible_gpus() {
  static const std::vector<int> all = [] {
    std::vector<int> found;
    const int gpus = number("FAKE_CUDA_GPUS", "1");
    const char* const names = std::getenv("CUDA_VISIBLE_DEVICES");
    if (names == nullptr)
      for (int gpu = 0; gpu < gpus; ++gpu) found.push_back(gpu);
    std::istringstream words(names != nullptr ? names : "");
    for (std::string word; std::getline(words, word, ',');)
      if (const int gpu = std::atoi(word.c_str()); gpu >= 0 && gpu < gpus) found.push_back(gpu);
    return found;
  }();
  return all;
}
int number_of(CUdevice gpu) { return visible_gpus().at(static_cast<std::size_t>(gpu)); }

CUresult device_count(int* count) {
  *count = static_cast<int>(visible_gpus().size());
  return CUDA_SUCCESS;
}
CUresult device_at(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult device_name(char* name, int size, CUdevice) {
  std::strncpy(name, "fake GPU", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult device_uuid(CUuuid* uuid, CUdevice gpu) {
  std::memset(uuid, number_of(gpu) + 1, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult device_memory(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{80} << 30;
  return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute which, CUdevice gpu) {
  *value = 0;
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = number_of(gpu) + 1; break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED: *value = 1; break;
    default: break;
  }
  return CUDA_SUCCESS;
}
CUresult peer_attribute(int* value, CUdevice_P2PAttribute, CUdevice, CUdevice) {
  *value = 1;
  return CUDA_SUCCESS;
}
CUresult ctx_current(CUcontext* context) {
  *context = current.empty() ? nullptr : current.back();
  return CUDA_SUCCESS;
}
CUresult ctx_device(CUdevice* gpu) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *gpu = static_cast<CUdevice>(reinterpret_cast<char*>(current.back()) - contexts.data());
  return CUDA_SUCCESS;
}
CUresult ctx_push(CUcontext context) {
  current.push_back(context);
  return CUDA_SUCCESS;
}
CUresult ctx_pop(CUcontext* context) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}
CUresult ctx_limit(std::size_t* value, CUlimit) {
  *value = driver::get().stack_bytes;
  return CUDA_SUCCESS;
}
CUresult ctx_set_limit(CUlimit, std::size_t value) {
  driver::get().stack_bytes = value;
  return CUDA_SUCCESS;
}
CUresult ctx_priorities(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}
/// The number of users of a GPU's primary context.
std::atomic<int>& retained(CUdevice gpu) {
  static std::array<std::atomic<int>, 64> numbers;
  return numbers.at(static_cast<std::size_t>(gpu));
}
CUresult primary_retain(CUcontext* context, CUdevice gpu) {
  if (gpu < 0 || gpu >= static_cast<int>(visible_gpus().size())) return CUDA_ERROR_INVALID_DEVICE;
  *context = context_of(gpu);
  ++retained(gpu);
  return CUDA_SUCCESS;
}
CUresult primary_release(CUdevice gpu) {
  if (gpu < 0 || gpu >= static_cast<int>(visible_gpus().size())) return CUDA_ERROR_INVALID_DEVICE;
  return --retained(gpu) < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}
CUresult primary_state(CUdevice gpu, unsigned* flags, int* active) {
  if (gpu < 0 || gpu >= static_cast<int>(visible_gpus().size())) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = retained(gpu) > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult memory_info(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{80} << 30;
  return CUDA_SUCCESS;
}

// ---- memory

CUresult export_handle(void* to, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType, unsigned long long) {
  return all_memory().export_descriptor(to, handle);
}
CUresult import_handle(CUmemGenericAllocationHandle* handle, void* descriptor, CUmemAllocationHandleType) {
  return all_memory().import_descriptor(handle, static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)));
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* what,
                unsigned long long) {
  return all_memory().create(handle, bytes, what);
}
CUresult release(CUmemGenericAllocationHandle handle) { return all_memory().release(handle); }
CUresult retain_handle(CUmemGenericAllocationHandle* handle, void* address) {
  return all_memory().retain(handle, address);
}
CUresult properties_of(CUmemAllocationProp* what, CUmemGenericAllocationHandle handle) {
  return all_memory().properties(what, handle);
}
CUresult granularity(std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = std::size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr hint,
                         unsigned long long) {
  return memory::reserve(address, bytes, alignment, hint);
}
CUresult address_free(CUdeviceptr address, std::size_t bytes) { return memory::free_reservation(address, bytes); }
CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
             unsigned long long) {
  return all_memory().map(address, bytes, handle);
}
CUresult unmap(CUdeviceptr address, std::size_t bytes) { return all_memory().unmap(address, bytes); }
CUresult set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t) {
  return memory::allow(address, bytes, access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}
CUresult address_range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return all_memory().range(base, bytes, address);
}
CUresult pointer_attribute(void* value, CUpointer_attribute which, CUdeviceptr address) {
  const unsigned type = all_memory().type_at(address);
  if (type == 0) return CUDA_ERROR_INVALID_VALUE;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<unsigned*>(value) = type; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *static_cast<CUdeviceptr*>(value) = address; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<int*>(value) = 0; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(value) = 0; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *static_cast<int*>(value) = 1; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult alloc(CUdeviceptr* address, std::size_t bytes) {
  return all_memory().allocate(address, bytes, CU_MEMORYTYPE_DEVICE);
}
CUresult free_memory(CUdeviceptr address) { return all_memory().free(address); }
CUresult alloc_async(CUdeviceptr* address, std::size_t bytes, CUstream) { return alloc(address, bytes); }
CUresult free_async(CUdeviceptr address, CUstream on) {
  return enqueue(on, [address] { static_cast<void>(free_memory(address)); });
}
CUresult host_alloc(void** address, std::size_t bytes, unsigned) {
  return all_memory().allocate(reinterpret_cast<CUdeviceptr*>(address), bytes, CU_MEMORYTYPE_HOST);
}
CUresult host_free(void* address) { return all_memory().free(reinterpret_cast<CUdeviceptr>(address)); }
CUresult host_pointer(CUdeviceptr* address, void* host, unsigned) {
  *address = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
CUresult host_register(void* address, std::size_t bytes, unsigned) { return all_memory().add_host(address, bytes); }
CUresult host_unregister(void* address) { return all_memory().remove_host(address); }
CUresult ipc_export(CUipcMemHandle* handle, CUdeviceptr address) { return all_memory().export_block(handle, address); }
CUresult ipc_open(CUdeviceptr* address, CUipcMemHandle handle, unsigned) {
  return all_memory().open_block(address, handle);
}

// ---- kernels: handles of libraries have no data, and handles of kernels and functions contain the kernel's name

CUresult library_load(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                      unsigned) {
  const auto* const text = static_cast<const char*>(code);
  if (std::memcmp(text,
                  "\x7f"
                  "ELF",
                  4) != 0 &&
      std::string_view(text).find(".version") == std::string_view::npos)
    return CUDA_ERROR_INVALID_IMAGE;
  *library = reinterpret_cast<CUlibrary>(new int);
  return CUDA_SUCCESS;
}
CUresult library_kernel(CUkernel* kernel, CUlibrary, const char* name) {
  *kernel = reinterpret_cast<CUkernel>(new std::string(name));
  return CUDA_SUCCESS;
}
CUresult kernel_function(CUfunction* function, CUkernel kernel) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
CUresult function_attribute(int* value, CUfunction_attribute which, CUfunction) {
  *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 32 : 0;
  return CUDA_SUCCESS;
}
CUresult launch(const CUlaunchConfig* how, CUfunction function, void** arguments, void**) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  const bool valid = how->gridDimX > 0 && how->gridDimY == 1 && how->gridDimZ == 1 && how->blockDimX > 0 &&
                     how->blockDimX <= 1024 && how->blockDimY == 1 && how->blockDimZ == 1 && how->sharedMemBytes == 0;
  const std::function<void()> kernel = kernel_of(*reinterpret_cast<std::string*>(function), arguments);
  if (!valid || !kernel) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(how->hStream, kernel);
}

// ---- streams and events

CUresult stream_create(CUstream* result, unsigned flags, int) {
  auto item = stream::make();
  item->waits_for_legacy = (flags & CU_STREAM_NON_BLOCKING) == 0;
  *result = reinterpret_cast<CUstream>(item.get());
  const std::lock_guard lock(driver::get().mutex);
  driver::get().streams.emplace(*result, std::move(item));
  return CUDA_SUCCESS;
}
CUresult stream_destroy(CUstream which) {
  const std::lock_guard lock(driver::get().mutex);
  const auto found = driver::get().streams.find(which);
  if (found == driver::get().streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  found->second->close();
  driver::get().streams.erase(found);
  return CUDA_SUCCESS;
}
CUresult stream_id(CUstream which, unsigned long long* id) {
  if (const CUresult refused = captures::get().refuse_waits(driver::get().find(which)); refused != CUDA_SUCCESS)
    return refused;
  *id = reinterpret_cast<unsigned long long>(driver::get().find(which).get());
  return CUDA_SUCCESS;
}
CUresult stream_query(CUstream which) {
  const auto found = driver::get().find(which);
  if (const CUresult refused = captures::get().refuse_waits(found); refused != CUDA_SUCCESS) return refused;
  return found->has_done(found->enqueued()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult stream_capture_info(CUstream which, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* of,
                             const CUgraphNode** last, const CUgraphEdgeData** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return captures::get().info(driver::get().find(which), status, id, of, last, count);
}
CUresult stream_is_capturing(CUstream which, CUstreamCaptureStatus* status) {
  return stream_capture_info(which, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  captures::exchange_mode(mode);
  return CUDA_SUCCESS;
}
CUresult begin_capture(CUstream which, CUstreamCaptureMode mode) {
  return captures::get().begin(driver::get().find(which), mode);
}
CUresult end_capture(CUstream which, CUgraph* result) { return captures::get().end(driver::get().find(which), result); }

// ---- graphs

graph& graph_of(void* which) { return *static_cast<graph*>(which); }

CUresult graph_instantiate(CUgraphExec* result, CUgraph from, unsigned long long) {
  *result = reinterpret_cast<CUgraphExec>(new graph(graph_of(from)));
  return CUDA_SUCCESS;
}
CUresult graph_launch(CUgraphExec which, CUstream on) {
  graph_of(which).launch(*driver::get().find(on));
  return CUDA_SUCCESS;
}
CUresult graph_destroy(CUgraph which) {
  delete &graph_of(which);
  return CUDA_SUCCESS;
}
CUresult graph_exec_destroy(CUgraphExec which) {
  delete &graph_of(which);
  return CUDA_SUCCESS;
}
node* node_of(CUgraphNode which) { return reinterpret_cast<node*>(which); }
CUresult graph_add_edges(CUgraph to, const CUgraphNode* from, const CUgraphNode* behind, const CUgraphEdgeData*,
                         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) graph_of(to).add_edge(node_of(from[i]), node_of(behind[i]));
  return CUDA_SUCCESS;
}
CUresult graph_remove_edges(CUgraph of, const CUgraphNode* from, const CUgraphNode* behind, const CUgraphEdgeData*,
                            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!graph_of(of).remove_edge(node_of(from[i]), node_of(behind[i]))) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult copy_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream on) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  static_cast<void>(stream_is_capturing(on, &status));
  if (all_memory().type_at(from) == 0 &&
      status == CU_STREAM_CAPTURE_STATUS_NONE) {  // pageable memory is read during the call
    const auto* const begin = static_cast<const char*>(pointer(from));
    return enqueue(on, [to, copy = std::vector<char>(begin, begin + bytes)] {
      std::memcpy(pointer(to), copy.data(), copy.size());
    });
  }
  return enqueue(on, [=] { std::memcpy(pointer(to), pointer(from), bytes); });
}
CUresult copy_2d_async(const CUDA_MEMCPY2D* what, CUstream on) {
  return enqueue(on, [what = *what] {
    for (std::size_t row = 0; row < what.Height; ++row)
      std::memcpy(pointer(what.dstDevice + row * what.dstPitch), pointer(what.srcDevice + row * what.srcPitch),
                  what.WidthInBytes);
  });
}
CUresult fill_async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream on) {
  return enqueue(on, [=] { std::memset(pointer(to), value, bytes); });
}
CUresult write_value(CUstream on, CUdeviceptr to, cuuint64_t value, unsigned) {
  return enqueue(
      on, [=] { std::atomic_ref(*static_cast<cuuint64_t*>(pointer(to))).store(value, std::memory_order_release); });
}
CUresult wait_value(CUstream on, CUdeviceptr at, cuuint64_t value, unsigned) {
  return enqueue(on, [=] {
    const std::atomic_ref word(*static_cast<cuuint64_t*>(pointer(at)));
    while (static_cast<std::int64_t>(word.load(std::memory_order_acquire) - value) < 0)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
}

event& event_of(CUevent which) { return *reinterpret_cast<event*>(which); }

CUresult event_create(CUevent* result, unsigned) {
  *result = reinterpret_cast<CUevent>(new event);
  return CUDA_SUCCESS;
}
CUresult event_destroy(CUevent which) {
  captures::get().forget(event_of(which));
  delete &event_of(which);
  return CUDA_SUCCESS;
}
CUresult event_query(CUevent which) {
  if (const CUresult refused = captures::get().refuse_captured(event_of(which)); refused != CUDA_SUCCESS)
    return refused;
  return event_of(which).passed()() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult event_record(CUevent which, CUstream on) {
  const std::shared_ptr<stream> from = driver::get().find(on);
  if (const auto captured = captures::get().record(from, event_of(which))) return *captured;
  event_of(which).record({from});
  return CUDA_SUCCESS;
}
CUresult ctx_record(CUcontext, CUevent which) {
  if (const CUresult refused = captures::get().refuse_any(); refused != CUDA_SUCCESS) return refused;
  std::vector<std::shared_ptr<stream>> all;
  {
    const std::lock_guard lock(driver::get().mutex);
    for (const auto& [handle, each] : driver::get().streams) all.push_back(each);
  }
  event_of(which).record(all);
  return CUDA_SUCCESS;
}
CUresult stream_wait_event(CUstream on, CUevent which, unsigned flags) {
  const std::shared_ptr<stream> waiting = driver::get().find(on);
  if (const auto captured = captures::get().wait(waiting, event_of(which), flags == CU_EVENT_WAIT_EXTERNAL))
    return *captured;
  waiting->enqueue_wait(event_of(which).passed());
  return CUDA_SUCCESS;
}
CUresult graph_add_record(CUgraphNode* result, CUgraph to, const CUgraphNode* behind, std::size_t count,
                          CUevent which) {
  std::vector<node*> before;
  for (std::size_t i = 0; i < count; ++i) before.push_back(node_of(behind[i]));
  const auto record = [&item = event_of(which)](stream& on) { item.record({on.shared_from_this()}); };
  *result = reinterpret_cast<CUgraphNode>(graph_of(to).add(record, before));
  return CUDA_SUCCESS;
}

// ---- the table

template <class... Arguments>
CUresult succeed(Arguments...) {
  return CUDA_SUCCESS;
}
CUresult refuse() { return CUDA_ERROR_NOT_SUPPORTED; }

CUresult name_of_error(CUresult result, const char** name) {
  static thread_local std::string text;
  text = "CUDA_ERROR_" + std::to_string(static_cast<int>(result));
  *name = text.c_str();
  return CUDA_SUCCESS;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const std::unordered_map<std::string_view, void*>& functions() {
  static const std::unordered_map<std::string_view, void*> all{
      {"cuDeviceGetCount", address(device_count)},
      {"cuDeviceGet", address(device_at)},
      {"cuDeviceGetName", address(device_name)},
      {"cuDeviceGetUuid", address(device_uuid)},
      {"cuDeviceTotalMem", address(device_memory)},
      {"cuDeviceGetAttribute", address(attribute)},
      {"cuDeviceGetP2PAttribute", address(peer_attribute)},
      {"cuCtxGetCurrent", address(ctx_current)},
      {"cuCtxGetDevice", address(ctx_device)},
      {"cuCtxPushCurrent", address(ctx_push)},
      {"cuCtxPopCurrent", address(ctx_pop)},
      {"cuCtxGetLimit", address(ctx_limit)},
      {"cuCtxSetLimit", address(unsafe<ctx_set_limit>::call)},
      {"cuCtxGetStreamPriorityRange", address(ctx_priorities)},
      {"cuCtxEnablePeerAccess", address(succeed<CUcontext, unsigned>)},
      {"cuDevicePrimaryCtxRetain", address(primary_retain)},
      {"cuDevicePrimaryCtxRelease", address(primary_release)},
      {"cuDevicePrimaryCtxGetState", address(primary_state)},
      {"cuMemGetInfo", address(memory_info)},
      {"cuMemExportToShareableHandle", address(export_handle)},
      {"cuMemImportFromShareableHandle", address(import_handle)},
      {"cuMemCreate", address(unsafe<create>::call)},
      {"cuMemRelease", address(unsafe<release>::call)},
      {"cuMemRetainAllocationHandle", address(retain_handle)},
      {"cuMemGetAllocationPropertiesFromHandle", address(properties_of)},
      {"cuMemGetAllocationGranularity", address(granularity)},
      {"cuMemAddressReserve", address(unsafe<address_reserve>::call)},
      {"cuMemAddressFree", address(unsafe<address_free>::call)},
      {"cuMemMap", address(unsafe<map>::call)},
      {"cuMemUnmap", address(unsafe<unmap>::call)},
      {"cuMemSetAccess", address(unsafe<set_access>::call)},
      {"cuMemGetAddressRange", address(address_range)},
      {"cuPointerGetAttribute", address(pointer_attribute)},
      {"cuMemAlloc", address(unsafe<alloc>::call)},
      {"cuMemFree", address(unsafe<free_memory>::call)},
      {"cuMemAllocAsync", address(alloc_async)},
      {"cuMemFreeAsync", address(free_async)},
      {"cuMemHostAlloc", address(unsafe<host_alloc>::call)},
      {"cuMemFreeHost", address(unsafe<host_free>::call)},
      {"cuMemHostGetDevicePointer", address(host_pointer)},
      {"cuMemHostRegister", address(unsafe<host_register>::call)},
      {"cuMemHostUnregister", address(unsafe<host_unregister>::call)},
      {"cuIpcGetMemHandle", address(ipc_export)},
      {"cuIpcOpenMemHandle", address(unsafe<ipc_open>::call)},
      {"cuIpcCloseMemHandle", address(unsafe<free_memory>::call)},
      {"cuLibraryLoadData", address(unsafe<library_load>::call)},
      {"cuLibraryGetKernel", address(library_kernel)},
      {"cuKernelGetFunction", address(kernel_function)},
      {"cuFuncLoad", address(succeed<CUfunction>)},
      {"cuFuncGetAttribute", address(function_attribute)},
      {"cuLaunchKernelEx", address(launch)},
      {"cuStreamCreateWithPriority", address(stream_create)},
      {"cuStreamDestroy", address(stream_destroy)},
      {"cuStreamGetId", address(stream_id)},
      {"cuStreamQuery", address(unsafe<stream_query>::call)},
      {"cuStreamIsCapturing", address(stream_is_capturing)},
      {"cuStreamGetCaptureInfo", address(stream_capture_info)},
      {"cuStreamWaitEvent", address(stream_wait_event)},
      {"cuThreadExchangeStreamCaptureMode", address(exchange_capture_mode)},
      {"cuStreamBeginCapture", address(begin_capture)},
      {"cuStreamEndCapture", address(end_capture)},
      {"cuGraphInstantiate", address(graph_instantiate)},
      {"cuGraphLaunch", address(graph_launch)},
      {"cuGraphDestroy", address(graph_destroy)},
      {"cuGraphExecDestroy", address(graph_exec_destroy)},
      {"cuGraphAddEventRecordNode", address(graph_add_record)},
      {"cuGraphAddDependencies", address(graph_add_edges)},
      {"cuGraphRemoveDependencies", address(graph_remove_edges)},
      {"cuMemcpyAsync", address(copy_async)},
      {"cuMemcpy2DAsync", address(copy_2d_async)},
      {"cuMemsetD8Async", address(fill_async)},
      {"cuStreamWriteValue64", address(write_value)},
      {"cuStreamWaitValue64", address(wait_value)},
      {"cuEventCreate", address(event_create)},
      {"cuEventDestroy", address(event_destroy)},
      {"cuEventQuery", address(unsafe<event_query>::call)},
      {"cuEventRecord", address(event_record)},
      {"cuCtxRecordEvent", address(ctx_record)},
      {"cuGetErrorName", address(name_of_error)},
      {"cuGetErrorString", address(name_of_error)},
  };
  return all;
}

}  // namespace
}  // namespace fake_cuda

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult

FAKE cuDriverGetVersion(int* version) {
  *version = fake_cuda::number("FAKE_CUDA_VERSION", "13000");
  return CUDA_SUCCESS;
}

FAKE cuInit(unsigned) { return static_cast<CUresult>(fake_cuda::number("FAKE_CUDA_INIT", "0")); }

FAKE cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t, CUdriverProcAddressQueryResult*) {
  *function = nullptr;
  int supported = 0;
  static_cast<void>(cuDriverGetVersion(&supported));
  if (version > supported || fake_cuda::setting("FAKE_CUDA_LACKS", "") == std::string_view(name))
    return CUDA_ERROR_NOT_FOUND;
  const auto found = fake_cuda::functions().find(name);
  *function = found != fake_cuda::functions().end() ? found->second : fake_cuda::address(fake_cuda::refuse);
  return CUDA_SUCCESS;
}
