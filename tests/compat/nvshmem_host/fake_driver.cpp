#include "fake_driver.hpp"

#include <atomic>
#include <cstdint>

namespace {

std::atomic<bool> busy{false};
std::atomic<bool> capturing{false};
std::atomic<bool> failed{false};
std::atomic<bool> capture_begun{false};
std::atomic<int> queries{0};

constexpr int success = 0;
constexpr int not_ready = 600;
constexpr int illegal_address = 700;
constexpr int capture_implicit = 906;
constexpr std::uintptr_t legacy = 1;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void fake_driver_set_busy(bool is) { busy = is; }
void fake_driver_set_capturing(bool is) { capturing = is; }
void fake_driver_set_failed(bool has) { failed = has; }
void fake_driver_set_capture_begun(bool begun) { capture_begun = begun; }
int fake_driver_queries() { return queries; }

int cuCtxGetCurrent(void** context) {
  *context = &busy;
  return success;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return success;
}
int cuThreadExchangeStreamCaptureMode(int*) { return success; }
int cuStreamIsCapturing(void* stream, int* status) {
  *status = 0;
  return reinterpret_cast<std::uintptr_t>(stream) == legacy && capturing ? capture_implicit : success;
}
int cuGetErrorName(int error, const char** name) {
  *name = error == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "unknown";
  return success;
}
int cuStreamQuery(void* stream) {
  ++queries;
  if (failed) return illegal_address;
  if (capture_begun) return capture_implicit;
  return reinterpret_cast<std::uintptr_t>(stream) == legacy && busy ? not_ready : success;
}

}  // extern "C"
#pragma GCC visibility pop
