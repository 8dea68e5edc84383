/// @file
/// The CUDA driver, looked up at run time through the CUDA runtime, so that a library with CUDA loads on a machine
/// without a driver. Errors become a pgas::error with the driver's name for the error.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::detail::cuda {

/// The name of a function of the driver. Converts to a pointer to the function. *Errors* device_unavailable.
struct driver_function {
  const char* name;
  /// The oldest version of the driver interface in which the function has the current signature.
  unsigned int version = 12000;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address());
  }
  [[nodiscard]] void* address() const;
};

/// The driver functions that the runtime does not have, and the functions for small operations of the host, because a
/// copy by the runtime takes 0.2 us longer.
struct driver_api {
  decltype(&cuMemAddressReserve) address_reserve = driver_function{"cuMemAddressReserve"};
  decltype(&cuMemAddressFree) address_free = driver_function{"cuMemAddressFree"};
  decltype(&cuMemCreate) create = driver_function{"cuMemCreate"};
  decltype(&cuMemRelease) release = driver_function{"cuMemRelease"};
  decltype(&cuMemMap) map = driver_function{"cuMemMap"};
  decltype(&cuMemUnmap) unmap = driver_function{"cuMemUnmap"};
  decltype(&cuMemSetAccess) set_access = driver_function{"cuMemSetAccess"};
  decltype(&cuMemGetAllocationGranularity) granularity = driver_function{"cuMemGetAllocationGranularity"};
  decltype(&cuMemExportToShareableHandle) export_handle = driver_function{"cuMemExportToShareableHandle"};
  decltype(&cuMemImportFromShareableHandle) import_handle = driver_function{"cuMemImportFromShareableHandle"};
  decltype(&cuMemRetainAllocationHandle) retain_handle = driver_function{"cuMemRetainAllocationHandle"};
  decltype(&cuMemGetAllocationPropertiesFromHandle) properties_of =
      driver_function{"cuMemGetAllocationPropertiesFromHandle"};
  decltype(&cuMemGetAddressRange) address_range = driver_function{"cuMemGetAddressRange"};
  decltype(&cuPointerGetAttribute) pointer_attribute = driver_function{"cuPointerGetAttribute"};
  decltype(&cuMemAlloc) alloc = driver_function{"cuMemAlloc"};
  decltype(&cuMemFree) free = driver_function{"cuMemFree"};
  decltype(&cuIpcGetMemHandle) ipc_export = driver_function{"cuIpcGetMemHandle"};
  decltype(&cuIpcOpenMemHandle) ipc_open = driver_function{"cuIpcOpenMemHandle"};
  decltype(&cuIpcCloseMemHandle) ipc_close = driver_function{"cuIpcCloseMemHandle"};
  decltype(&cuMemPoolExportToShareableHandle) pool_export = driver_function{"cuMemPoolExportToShareableHandle"};
  decltype(&cuMemPoolImportFromShareableHandle) pool_import = driver_function{"cuMemPoolImportFromShareableHandle"};
  decltype(&cuMemPoolExportPointer) pool_export_pointer = driver_function{"cuMemPoolExportPointer"};
  decltype(&cuMemPoolImportPointer) pool_import_pointer = driver_function{"cuMemPoolImportPointer"};
  decltype(&cuMemPoolSetAccess) pool_set_access = driver_function{"cuMemPoolSetAccess"};
  decltype(&cuMemPoolGetAttribute) pool_attribute = driver_function{"cuMemPoolGetAttribute"};
  decltype(&cuMemPoolDestroy) pool_destroy = driver_function{"cuMemPoolDestroy"};
  decltype(&cuDeviceGet) device_at = driver_function{"cuDeviceGet"};
  decltype(&cuDeviceGetUuid) device_uuid = driver_function{"cuDeviceGetUuid"};
  decltype(&cuDeviceGetAttribute) attribute = driver_function{"cuDeviceGetAttribute"};
  decltype(&cuCtxGetCurrent) ctx_current = driver_function{"cuCtxGetCurrent"};
  decltype(&cuCtxGetDevice) ctx_device = driver_function{"cuCtxGetDevice"};
  decltype(&cuCtxPushCurrent) ctx_push = driver_function{"cuCtxPushCurrent"};
  decltype(&cuCtxPopCurrent) ctx_pop = driver_function{"cuCtxPopCurrent"};
  decltype(&cuDevicePrimaryCtxRetain) primary_retain = driver_function{"cuDevicePrimaryCtxRetain"};
  decltype(&cuDevicePrimaryCtxRelease) primary_release = driver_function{"cuDevicePrimaryCtxRelease"};
  decltype(&cuDevicePrimaryCtxGetState) primary_state = driver_function{"cuDevicePrimaryCtxGetState"};
  decltype(&cuMemcpyAsync) copy_async = driver_function{"cuMemcpyAsync"};
  decltype(&cuStreamQuery) stream_query = driver_function{"cuStreamQuery"};
  decltype(&cuStreamIsCapturing) stream_is_capturing = driver_function{"cuStreamIsCapturing"};
  decltype(&cuEventCreate) event_create = driver_function{"cuEventCreate"};
  decltype(&cuEventDestroy) event_destroy = driver_function{"cuEventDestroy"};
  decltype(&cuEventQuery) event_query = driver_function{"cuEventQuery"};
  decltype(&cuCtxRecordEvent) ctx_record =
      driver_function{"cuCtxRecordEvent", 12050};  // the first interface in which a context can record an event
  decltype(&cuStreamWriteValue64) write_value = driver_function{"cuStreamWriteValue64"};
  decltype(&cuStreamWaitValue64) wait_value = driver_function{"cuStreamWaitValue64"};
  decltype(&cuFlushGPUDirectRDMAWrites) flush_rdma = driver_function{"cuFlushGPUDirectRDMAWrites"};
  decltype(&cuGetErrorName) error_name = driver_function{"cuGetErrorName"};
  decltype(&cuGetErrorString) error_string = driver_function{"cuGetErrorString"};
};

/// The driver of this machine. *Errors* device_unavailable with the missing part: the driver, a function, or a newer
/// driver.
[[nodiscard]] const driver_api& driver();

/// If `result` is not success, throws an error with the code `kind`. The text is "what: CUDA_ERROR_NAME (text)".
void check(CUresult result, std::string_view what, code kind = code::device_failed);

/// Whether the result of a query of a stream is an error of its work, after which the context is unusable. Errors about
/// captures do not count, because they only report that the stream is being captured.
[[nodiscard]] constexpr bool is_failed_work(CUresult result) noexcept {
  const bool capture =
      result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && !capture;
}
void check(cudaError_t result, std::string_view what, code kind = code::device_failed);

}  // namespace pgas::detail::cuda
