/// @file
/// The CUDA driver (libcuda.so.1), looked up at run time, so that a library with CUDA loads on a machine without a
/// driver. The library uses no other part of CUDA at run time, so one library serves all versions of CUDA from
/// oldest_driver on. Errors become a pgas::error with the driver's name for the error.
#pragma once

#include <cuda.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::detail::cuda {

/// The oldest version of CUDA whose drivers the library supports: 12.4, which is driver 550.
inline constexpr int oldest_driver = 12040;

/// The name of a function of the driver. Converts to a pointer to the function. *Errors* device_unavailable.
struct driver_function {
  const char* name;
  /// The version of the driver interface in which the function has the signature that is used here.
  int version = 12000;
  bool is_optional = false;  ///< if the driver lacks the function: true: the pointer is null; false: an error
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address());
  }
  [[nodiscard]] void* address() const;
};

/// The functions of the driver. The types are the same in the headers of CUDA 12.4 and of later versions.
struct driver_api {
  // memory
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
  decltype(&cuMemGetInfo) memory_info = driver_function{"cuMemGetInfo"};
  decltype(&cuMemAlloc) alloc = driver_function{"cuMemAlloc"};
  decltype(&cuMemFree) free = driver_function{"cuMemFree"};
  decltype(&cuMemAllocAsync) alloc_async = driver_function{"cuMemAllocAsync"};
  decltype(&cuMemFreeAsync) free_async = driver_function{"cuMemFreeAsync"};
  decltype(&cuMemHostAlloc) host_alloc = driver_function{"cuMemHostAlloc"};
  decltype(&cuMemFreeHost) host_free = driver_function{"cuMemFreeHost"};
  decltype(&cuMemHostGetDevicePointer) host_pointer = driver_function{"cuMemHostGetDevicePointer"};
  decltype(&cuMemHostRegister) host_register = driver_function{"cuMemHostRegister"};
  decltype(&cuMemHostUnregister) host_unregister = driver_function{"cuMemHostUnregister"};
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

  // devices
  decltype(&cuDeviceGetCount) device_count = driver_function{"cuDeviceGetCount"};
  decltype(&cuDeviceGet) device_at = driver_function{"cuDeviceGet"};
  decltype(&cuDeviceGetName) device_name = driver_function{"cuDeviceGetName"};
  decltype(&cuDeviceGetUuid) device_uuid = driver_function{"cuDeviceGetUuid"};
  decltype(&cuDeviceTotalMem) device_memory = driver_function{"cuDeviceTotalMem"};
  decltype(&cuDeviceGetAttribute) attribute = driver_function{"cuDeviceGetAttribute"};
  decltype(&cuDeviceGetP2PAttribute) peer_attribute = driver_function{"cuDeviceGetP2PAttribute"};

  // contexts
  decltype(&cuCtxGetCurrent) ctx_current = driver_function{"cuCtxGetCurrent"};
  decltype(&cuCtxGetDevice) ctx_device = driver_function{"cuCtxGetDevice"};
  decltype(&cuCtxPushCurrent) ctx_push = driver_function{"cuCtxPushCurrent"};
  decltype(&cuCtxPopCurrent) ctx_pop = driver_function{"cuCtxPopCurrent"};
  decltype(&cuCtxGetLimit) ctx_limit = driver_function{"cuCtxGetLimit"};
  decltype(&cuCtxSetLimit) ctx_set_limit = driver_function{"cuCtxSetLimit"};
  decltype(&cuCtxSynchronize) ctx_synchronize = driver_function{"cuCtxSynchronize"};
  decltype(&cuCtxGetStreamPriorityRange) ctx_priorities = driver_function{"cuCtxGetStreamPriorityRange"};
  decltype(&cuCtxEnablePeerAccess) enable_peer = driver_function{"cuCtxEnablePeerAccess"};
  decltype(&cuDevicePrimaryCtxRetain) primary_retain = driver_function{"cuDevicePrimaryCtxRetain"};
  decltype(&cuDevicePrimaryCtxRelease) primary_release = driver_function{"cuDevicePrimaryCtxRelease"};
  decltype(&cuDevicePrimaryCtxGetState) primary_state = driver_function{"cuDevicePrimaryCtxGetState"};

  // kernels
  decltype(&cuLibraryLoadData) library_load = driver_function{"cuLibraryLoadData"};
  decltype(&cuLibraryGetKernel) library_kernel = driver_function{"cuLibraryGetKernel"};
  decltype(&cuKernelGetFunction) kernel_function = driver_function{"cuKernelGetFunction"};
  decltype(&cuFuncLoad) function_load = driver_function{"cuFuncLoad", 12040};
  decltype(&cuFuncGetAttribute) function_attribute = driver_function{"cuFuncGetAttribute"};
  decltype(&cuLaunchKernelEx) launch = driver_function{"cuLaunchKernelEx"};

  // streams and events
  decltype(&cuStreamCreateWithPriority) stream_create = driver_function{"cuStreamCreateWithPriority"};
  decltype(&cuStreamDestroy) stream_destroy = driver_function{"cuStreamDestroy"};
  decltype(&cuStreamGetId) stream_id = driver_function{"cuStreamGetId"};
  decltype(&cuStreamQuery) stream_query = driver_function{"cuStreamQuery"};
  decltype(&cuStreamIsCapturing) stream_is_capturing = driver_function{"cuStreamIsCapturing"};
  decltype(&cuStreamGetCaptureInfo_v3) stream_capture_info = driver_function{"cuStreamGetCaptureInfo", 12030};
  decltype(&cuStreamWaitEvent) stream_wait_event = driver_function{"cuStreamWaitEvent"};
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode =
      driver_function{"cuThreadExchangeStreamCaptureMode"};
  decltype(&cuMemcpyAsync) copy_async = driver_function{"cuMemcpyAsync"};
  decltype(&cuMemcpy2DAsync) copy_2d_async = driver_function{"cuMemcpy2DAsync"};
  decltype(&cuMemsetD8Async) fill_async = driver_function{"cuMemsetD8Async"};
  decltype(&cuStreamWriteValue64) write_value = driver_function{"cuStreamWriteValue64"};
  decltype(&cuStreamWaitValue64) wait_value = driver_function{"cuStreamWaitValue64"};
  decltype(&cuEventCreate) event_create = driver_function{"cuEventCreate"};
  decltype(&cuEventDestroy) event_destroy = driver_function{"cuEventDestroy"};
  decltype(&cuEventQuery) event_query = driver_function{"cuEventQuery"};
  decltype(&cuEventRecord) event_record = driver_function{"cuEventRecord"};
  decltype(&cuIpcGetEventHandle) ipc_event_export = driver_function{"cuIpcGetEventHandle"};
  decltype(&cuIpcOpenEventHandle) ipc_event_open = driver_function{"cuIpcOpenEventHandle"};
  decltype(&cuGraphAddEventRecordNode) graph_add_record = driver_function{"cuGraphAddEventRecordNode"};
  decltype(&cuGraphAddDependencies_v2) graph_add_edges = driver_function{"cuGraphAddDependencies", 12030};
  decltype(&cuGraphRemoveDependencies_v2) graph_remove_edges = driver_function{"cuGraphRemoveDependencies", 12030};
  decltype(&cuFlushGPUDirectRDMAWrites) flush_rdma = driver_function{"cuFlushGPUDirectRDMAWrites"};
  /// cuCtxRecordEvent() of CUDA 12.5; null if the driver is older. The headers of CUDA 12.4 do not declare the
  /// function.
  CUresult (*ctx_record)(CUcontext, CUevent) = driver_function{"cuCtxRecordEvent", 12050, true};

  // errors
  decltype(&cuGetErrorName) error_name = driver_function{"cuGetErrorName"};
  decltype(&cuGetErrorString) error_string = driver_function{"cuGetErrorString"};
};

/// The version of CUDA that the driver supports, for example 13000. *Errors* device_unavailable without a driver.
[[nodiscard]] int driver_version();

/// The driver of this machine. *Errors* device_unavailable with the missing part: the driver, a GPU, or a newer driver.
[[nodiscard]] const driver_api& driver();

/// If `result` is not success, throws an error with the code `kind`, or `capturing` if a capture forbids the call. The
/// text is "what: CUDA_ERROR_NAME (text)".
void check(CUresult result, std::string_view what, code kind = code::device_failed);

/// Whether a query of a stream has returned an error of the stream's work. After such an error the context is unusable.
/// Errors about captures do not count, because they only report that the stream is being captured.
[[nodiscard]] constexpr bool is_failed_work(CUresult result) noexcept {
  const bool capture =
      result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && !capture;
}

}  // namespace pgas::detail::cuda
