// Marks all work that has been enqueued on GPUs. Uses events that record all work of a context.
#include "device/enqueued_work.hpp"

#include <utility>
#include <vector>

#include "device/cuda/primary_context.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

/// An event of a context. The event keeps the context alive.
class context_event {
 public:
  explicit context_event(int ordinal) : context_(ordinal) {}
  context_event(context_event&& other) noexcept
      : context_(std::move(other.context_)), event_(std::exchange(other.event_, nullptr)) {}
  context_event& operator=(context_event&&) = delete;
  ~context_event() {
    if (event_ == nullptr) return;
    if (const quiet_context current(context_.get()); current) static_cast<void>(driver().event_destroy(event_));
  }

  /// Records all work that was enqueued in the context, or waits for the work if the driver is of CUDA 12.4. Does
  /// nothing if the context has failed. *Errors* capturing; device_failed if the driver refuses.
  void record() {
    const quiet_context current(context_.get());
    if (!current) return;
    // A record of the context invalidates the captures of its streams. This query finds a capture of a stream that
    // synchronizes with the legacy stream, and does not invalidate this capture.
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (driver().stream_is_capturing(CU_STREAM_LEGACY, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) refuse();
    CUresult result = CUDA_SUCCESS;
    if (driver().ctx_record == nullptr) {  // a driver of CUDA 12.4 can only wait for the work
      result = driver().ctx_synchronize();
    } else {
      result = driver().event_create(&event_, CU_EVENT_DISABLE_TIMING);
      if (result != CUDA_SUCCESS) event_ = nullptr;
      if (result == CUDA_SUCCESS) result = driver().ctx_record(context_.get(), event_);
    }
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) refuse();
    if (result != CUDA_SUCCESS && works()) check(result, "recording all work of a GPU (cuCtxRecordEvent)");
  }
  [[nodiscard]] bool has_passed() const noexcept {
    if (event_ == nullptr) return true;
    const quiet_context current(context_.get());
    if (!current) return true;
    const CUresult result = driver().event_query(event_);
    return result == CUDA_SUCCESS || (result != CUDA_ERROR_NOT_READY && !works());
  }

 private:
  /// Returns false in a context that has failed, because all calls in this context return the error.
  [[nodiscard]] static bool works() noexcept {
    const CUresult result = driver().stream_query(CU_STREAM_LEGACY);
    const bool captures = result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT;
    return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY || captures;
  }
  [[noreturn]] static void refuse() {
    throw error(code::capturing, "a stream is being captured: the work of all streams can't be recorded");
  }

  primary_context context_;
  CUevent event_ = nullptr;
};

class gpu_work final : public enqueued_work {
 public:
  void add(int ordinal) {
    context_event event(ordinal);
    event.record();
    events_.push_back(std::move(event));
  }
  [[nodiscard]] bool has_passed() override {
    while (!events_.empty() && events_.back().has_passed()) events_.pop_back();
    return events_.empty();
  }

 private:
  std::vector<context_event> events_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<enqueued_work> work_of_gpus() {
  auto work = std::make_unique<cuda::gpu_work>();
  // The mark includes all GPUs, because memory of one GPU can be the source of a copy by a stream of another GPU.
  const int gpus = visible_gpus();
  for (int ordinal = 0; ordinal < gpus; ++ordinal) {
    unsigned flags = 0;
    int active = 0;
    if (cuda::driver().primary_state(ordinal, &flags, &active) == CUDA_SUCCESS && active != 0) work->add(ordinal);
  }
  return work;
}

}  // namespace pgas::detail
