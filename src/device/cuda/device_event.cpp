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
    check(driver().event_create(&event_, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
          "making an interprocess event");
  }
  cuda_event(int ordinal, CUevent of_program) : context_(ordinal), event_(of_program), own_(false) {
    const current_context current(context_.get());
    CUipcEventHandle ignored{};
    check(driver().ipc_event_export(&ignored, event_),
          "an event for other processes must be created with cudaEventInterprocess | cudaEventDisableTiming: "
          "cuIpcGetEventHandle",
          code::invalid_argument);
  }
  cuda_event(int ordinal, const event_handle& handle) : context_(ordinal) {
    const current_context current(context_.get());
    CUipcEventHandle opaque{};
    static_assert(sizeof(opaque) == sizeof(handle));
    std::memcpy(&opaque, handle.data(), sizeof(opaque));
    check(driver().ipc_event_open(&event_, opaque), "cuIpcOpenEventHandle", code::handle_invalid);
  }
  ~cuda_event() override {
    if (!own_) return;
    // While the driver unloads, the context does not exist. The event then ends with the process.
    if (const quiet_context current(context_.get()); current) static_cast<void>(driver().event_destroy(event_));
  }

  [[nodiscard]] void* native() const noexcept override { return event_; }
  [[nodiscard]] event_handle handle() const override {
    const current_context current(context_.get());
    CUipcEventHandle opaque{};
    check(driver().ipc_event_export(&opaque, event_), "cuIpcGetEventHandle");
    event_handle bytes{};
    std::memcpy(bytes.data(), &opaque, sizeof(opaque));
    return bytes;
  }
  void record(void* stream) override {
    const in_context current(context_.get());
    check(driver().event_record(event_, static_cast<CUstream>(stream)), "recording an interprocess event");
  }
  void refuse_capture(void* stream, const char* what) const override {
    const in_context current(context_.get());
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(driver().stream_is_capturing(static_cast<CUstream>(stream), &status),
          "querying whether a stream is being captured");
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
      throw error(code::capturing,
                  fmt::format("an interprocess event can't be {} by a stream that is being captured into a graph: use "
                              "a pgas::timeline, which can",
                              what));
  }

 private:
  primary_context context_;
  CUevent event_ = nullptr;
  bool own_ = true;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<device_event> make_device_event(int ordinal) { return std::make_unique<cuda::cuda_event>(ordinal); }

std::unique_ptr<device_event> adopt_device_event(int ordinal, void* event) {
  return std::make_unique<cuda::cuda_event>(ordinal, static_cast<CUevent>(event));
}

std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle) {
  return std::make_unique<cuda::cuda_event>(ordinal, handle);
}

}  // namespace pgas::detail
