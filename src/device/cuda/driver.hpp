/// @file
/// The CUDA driver, looked up at run time through the CUDA runtime, so that a library with CUDA loads on a machine
/// without a driver. Errors become a pgas::error with the driver's name for the error.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::detail::cuda {

/// The driver functions that the runtime does not have, and the functions of small host-called operations: a copy
/// through the runtime takes 0.2 us more.
struct driver_api {
  decltype(&cuMemAddressReserve) address_reserve = nullptr;
  decltype(&cuMemAddressFree) address_free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;
  decltype(&cuMemRetainAllocationHandle) retain_handle = nullptr;
  decltype(&cuMemGetAllocationPropertiesFromHandle) properties_of = nullptr;
  decltype(&cuMemGetAddressRange) address_range = nullptr;
  decltype(&cuPointerGetAttribute) pointer_attribute = nullptr;
  decltype(&cuMemAlloc) alloc = nullptr;
  decltype(&cuMemFree) free = nullptr;
  decltype(&cuIpcGetMemHandle) ipc_export = nullptr;
  decltype(&cuIpcOpenMemHandle) ipc_open = nullptr;
  decltype(&cuIpcCloseMemHandle) ipc_close = nullptr;
  decltype(&cuMemPoolExportToShareableHandle) pool_export = nullptr;
  decltype(&cuMemPoolImportFromShareableHandle) pool_import = nullptr;
  decltype(&cuMemPoolExportPointer) pool_export_pointer = nullptr;
  decltype(&cuMemPoolImportPointer) pool_import_pointer = nullptr;
  decltype(&cuMemPoolSetAccess) pool_set_access = nullptr;
  decltype(&cuMemPoolGetAttribute) pool_attribute = nullptr;
  decltype(&cuMemPoolDestroy) pool_destroy = nullptr;
  decltype(&cuDeviceGet) device_at = nullptr;
  decltype(&cuDeviceGetUuid) device_uuid = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuCtxGetCurrent) ctx_current = nullptr;
  decltype(&cuCtxGetDevice) ctx_device = nullptr;
  decltype(&cuCtxPushCurrent) ctx_push = nullptr;
  decltype(&cuCtxPopCurrent) ctx_pop = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) primary_retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) primary_release = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) primary_state = nullptr;
  decltype(&cuMemcpyAsync) copy_async = nullptr;
  decltype(&cuStreamQuery) stream_query = nullptr;
  decltype(&cuStreamIsCapturing) stream_is_capturing = nullptr;
  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventDestroy) event_destroy = nullptr;
  decltype(&cuEventQuery) event_query = nullptr;
  decltype(&cuCtxRecordEvent) ctx_record = nullptr;
  decltype(&cuStreamWriteValue64) write_value = nullptr;
  decltype(&cuStreamWaitValue64) wait_value = nullptr;
  decltype(&cuFlushGPUDirectRDMAWrites) flush_rdma = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
};

/// The driver of this machine. *Errors* device_unavailable with the missing part: the driver, a function, or a newer
/// driver.
[[nodiscard]] const driver_api& driver();

/// Throws the code `otherwise` unless `result` is success. The text is "what: CUDA_ERROR_NAME (text)".
void check(CUresult result, std::string_view what, code otherwise = code::device_failed);

/// Whether the result of a query of a stream is an error of its work, after which the context is unusable. Errors about
/// captures are not, because they only report that the stream is being captured.
[[nodiscard]] constexpr bool is_failed_work(CUresult result) noexcept {
  const bool capture =
      result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && !capture;
}
void check(cudaError_t result, std::string_view what, code otherwise = code::device_failed);

}  // namespace pgas::detail::cuda
