#include "device/cuda/driver.hpp"

#include <fmt/format.h>

namespace pgas::detail::cuda {

namespace {

/// The oldest driver interface in which most functions of driver_api have today's signatures.
constexpr unsigned int interface_version = 12000;
/// The first interface in which a context can record an event.
constexpr unsigned int records_contexts = 12050;

template <class Function>
void look_up(const char* name, Function& function, unsigned int version = interface_version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result = cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (result != cudaSuccess || found != cudaDriverEntryPointSuccess || address == nullptr)
    throw error(code::device_unavailable,
                fmt::format("the CUDA driver has no {}: {}; install a driver for CUDA {}.{} or newer", name,
                            result != cudaSuccess ? cudaGetErrorString(result) : "it is too old", version / 1000,
                            version % 1000 / 10));
  function = reinterpret_cast<Function>(address);
}

driver_api load() {
  int version = 0;
  if (const cudaError_t result = cudaDriverGetVersion(&version); result != cudaSuccess || version == 0)
    throw error(code::device_unavailable, "no CUDA driver on this machine (libcuda.so.1 could not be loaded)");
  driver_api api;
  look_up("cuMemAddressReserve", api.address_reserve);
  look_up("cuMemAddressFree", api.address_free);
  look_up("cuMemCreate", api.create);
  look_up("cuMemRelease", api.release);
  look_up("cuMemMap", api.map);
  look_up("cuMemUnmap", api.unmap);
  look_up("cuMemSetAccess", api.set_access);
  look_up("cuMemGetAllocationGranularity", api.granularity);
  look_up("cuMemExportToShareableHandle", api.export_handle);
  look_up("cuMemImportFromShareableHandle", api.import_handle);
  look_up("cuMemRetainAllocationHandle", api.retain_handle);
  look_up("cuMemGetAllocationPropertiesFromHandle", api.properties_of);
  look_up("cuMemGetAddressRange", api.address_range);
  look_up("cuPointerGetAttribute", api.pointer_attribute);
  look_up("cuMemAlloc", api.alloc);
  look_up("cuMemFree", api.free);
  look_up("cuIpcGetMemHandle", api.ipc_export);
  look_up("cuIpcOpenMemHandle", api.ipc_open);
  look_up("cuIpcCloseMemHandle", api.ipc_close);
  look_up("cuMemPoolExportToShareableHandle", api.pool_export);
  look_up("cuMemPoolImportFromShareableHandle", api.pool_import);
  look_up("cuMemPoolExportPointer", api.pool_export_pointer);
  look_up("cuMemPoolImportPointer", api.pool_import_pointer);
  look_up("cuMemPoolSetAccess", api.pool_set_access);
  look_up("cuMemPoolGetAttribute", api.pool_attribute);
  look_up("cuMemPoolDestroy", api.pool_destroy);
  look_up("cuDeviceGet", api.device_at);
  look_up("cuDeviceGetUuid", api.device_uuid);
  look_up("cuDeviceGetAttribute", api.attribute);
  look_up("cuCtxGetCurrent", api.ctx_current);
  look_up("cuCtxGetDevice", api.ctx_device);
  look_up("cuCtxPushCurrent", api.ctx_push);
  look_up("cuCtxPopCurrent", api.ctx_pop);
  look_up("cuDevicePrimaryCtxRetain", api.primary_retain);
  look_up("cuDevicePrimaryCtxRelease", api.primary_release);
  look_up("cuDevicePrimaryCtxGetState", api.primary_state);
  look_up("cuMemcpyAsync", api.copy_async);
  look_up("cuStreamQuery", api.stream_query);
  look_up("cuStreamIsCapturing", api.stream_is_capturing);
  look_up("cuEventCreate", api.event_create);
  look_up("cuEventDestroy", api.event_destroy);
  look_up("cuEventQuery", api.event_query);
  look_up("cuCtxRecordEvent", api.ctx_record, records_contexts);
  look_up("cuStreamWriteValue64", api.write_value);
  look_up("cuStreamWaitValue64", api.wait_value);
  look_up("cuFlushGPUDirectRDMAWrites", api.flush_rdma);
  look_up("cuGetErrorName", api.error_name);
  look_up("cuGetErrorString", api.error_string);
  return api;
}

}  // namespace

const driver_api& driver() {
  static const driver_api api = load();
  return api;
}

void check(CUresult result, std::string_view what, code otherwise) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver().error_name(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
  if (driver().error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  throw error(otherwise, fmt::format("{}: {} ({})", what, name, text));
}

void check(cudaError_t result, std::string_view what, code otherwise) {
  if (result == cudaSuccess) return;
  // Clears the error, which is reported here and must not appear again in the application.
  static_cast<void>(cudaGetLastError());
  throw error(otherwise, fmt::format("{}: {} ({})", what, cudaGetErrorName(result), cudaGetErrorString(result)));
}

}  // namespace pgas::detail::cuda
