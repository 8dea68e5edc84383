#include "device/device_event.hpp"

#include <fmt/format.h>

#include <cstring>

#include "device/cuda/primary_context.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

class cuda_event final : public device_event {
 public:
  explicit cuda_event(int ordinal) : context_(ordinal) {
    const current_context current(context_.get());
    check(cudaEventCreateWithFlags(&event_, cudaEventInterprocess | cudaEventDisableTiming),
          "making an interprocess event");
  }
  cuda_event(int ordinal, cudaEvent_t of_program) : context_(ordinal), event_(of_program), own_(false) {
    const current_context current(context_.get());
    cudaIpcEventHandle_t ignored{};
    check(cudaIpcGetEventHandle(&ignored, event_),
          "an event for other processes must be created with cudaEventInterprocess | cudaEventDisableTiming: "
          "cudaIpcGetEventHandle",
          code::invalid_argument);
  }
  cuda_event(int ordinal, const event_handle& handle) : context_(ordinal) {
    const current_context current(context_.get());
    cudaIpcEventHandle_t opaque{};
    static_assert(sizeof(opaque) == sizeof(handle));
    std::memcpy(&opaque, handle.data(), sizeof(opaque));
    check(cudaIpcOpenEventHandle(&event_, opaque), "cudaIpcOpenEventHandle", code::handle_invalid);
  }
  ~cuda_event() override {
    if (!own_) return;
    // While the driver unloads, the context does not exist. The event then ends with the process.
    if (const quiet_context current(context_.get()); current)
      if (cudaEventDestroy(event_) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

  [[nodiscard]] void* native() const noexcept override { return event_; }
  [[nodiscard]] event_handle handle() const override {
    const current_context current(context_.get());
    cudaIpcEventHandle_t opaque{};
    check(cudaIpcGetEventHandle(&opaque, event_), "cudaIpcGetEventHandle");
    event_handle bytes{};
    std::memcpy(bytes.data(), &opaque, sizeof(opaque));
    return bytes;
  }
  void record(void* stream) override {
    const in_context current(context_.get());
    check(cudaEventRecord(event_, static_cast<cudaStream_t>(stream)), "recording an interprocess event");
  }
  void refuse_capture(void* stream, const char* what) const override {
    const in_context current(context_.get());
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status),
          "querying whether a stream is being captured");
    if (status != cudaStreamCaptureStatusNone)
      throw error(code::capturing,
                  fmt::format("an interprocess event can't be {} by a stream that is being captured into a graph: use "
                              "a pgas::timeline, which can",
                              what));
  }

 private:
  primary_context context_;
  cudaEvent_t event_ = nullptr;
  bool own_ = true;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<device_event> make_device_event(int ordinal) { return std::make_unique<cuda::cuda_event>(ordinal); }

std::unique_ptr<device_event> adopt_device_event(int ordinal, void* event) {
  return std::make_unique<cuda::cuda_event>(ordinal, static_cast<cudaEvent_t>(event));
}

std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle) {
  return std::make_unique<cuda::cuda_event>(ordinal, handle);
}

}  // namespace pgas::detail
