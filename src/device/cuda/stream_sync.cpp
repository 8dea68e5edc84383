// Words for streams by the driver's stream memory operations, and CUDA's interprocess events.
#include "device/stream_sync.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "device/cuda/primary_context.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

/// Host memory that this process has registered with CUDA, for all of its GPUs; it can be registered once only.
class registered_pages {
 public:
  void add(std::span<std::byte> pages) {
    const std::lock_guard lock(mutex_);
    if (int& users = users_[pages.data()]; users++ > 0) return;
    const cudaError_t result =
        cudaHostRegister(pages.data(), pages.size(), cudaHostRegisterMapped | cudaHostRegisterPortable);
    if (result == cudaSuccess) return;
    users_.erase(pages.data());
    check(result, "cudaHostRegister of a timeline's page");
  }
  void remove(std::span<std::byte> pages) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = users_.find(pages.data());
    if (found == users_.end() || --found->second > 0) return;
    users_.erase(found);
    if (cudaHostUnregister(pages.data()) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
  /// Never destroyed: objects of the program may outlive it.
  static registered_pages& of_process() {
    static auto& one = *new registered_pages;
    return one;
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, int> users_;
};

class cuda_stream_word final : public stream_word {
 public:
  cuda_stream_word(int ordinal, std::span<std::byte> pages, std::uint64_t* word) : context_(ordinal), pages_(pages) {
    int supported = 0;
    check(driver().attribute(&supported, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, ordinal),
          "cuDeviceGetAttribute");
    if (supported == 0)
      throw error(code::device_unavailable,
                  fmt::format("GPU {} has no stream memory operations of 64 bits, which a timeline needs: make it on "
                              "the host, or order the streams with events",
                              ordinal));
    const current_context current(context_.get());
    registered_pages::of_process().add(pages_);
    void* address = nullptr;
    const cudaError_t result = cudaHostGetDevicePointer(&address, pages_.data(), 0);
    if (result != cudaSuccess) {
      registered_pages::of_process().remove(pages_);
      check(result, "cudaHostGetDevicePointer");
    }
    address_ = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(address) +
                                                (reinterpret_cast<std::byte*>(word) - pages_.data()));
  }
  ~cuda_stream_word() override {
    // While the driver unloads there is no context: the registration ends with the process.
    if (const quiet_context current(context_); current) registered_pages::of_process().remove(pages_);
  }

  [[nodiscard]] std::uint64_t* address() const noexcept override { return address_; }

  void write(void* stream, std::uint64_t value, std::shared_ptr<const void>) override {
    const in_context current(context_.get());
    // The default flags: a fence of system scope comes before the store.
    check(driver().write_value(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(address_), value,
                               CU_STREAM_WRITE_VALUE_DEFAULT),
          "recording in a timeline: cuStreamWriteValue64");
  }

  void wait(void* stream, std::uint64_t value, std::function<void()>) override {
    const in_context current(context_.get());
    check(driver().wait_value(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(address_), value,
                              CU_STREAM_WAIT_VALUE_GEQ),
          "waiting for a timeline: cuStreamWaitValue64");
  }

  [[nodiscard]] bool waits_on_device() const noexcept override { return true; }

 private:
  primary_context context_;
  std::span<std::byte> pages_;
  std::uint64_t* address_ = nullptr;
};

class cuda_event final : public device_event {
 public:
  explicit cuda_event(int ordinal) : context_(ordinal) {
    const current_context current(context_.get());
    check(cudaEventCreateWithFlags(&event_, cudaEventInterprocess | cudaEventDisableTiming),
          "making an interprocess event");
  }
  cuda_event(int ordinal, const event_handle& handle) : context_(ordinal) {
    const current_context current(context_.get());
    cudaIpcEventHandle_t opaque{};
    static_assert(sizeof(opaque) == sizeof(handle));
    std::memcpy(&opaque, handle.data(), sizeof(opaque));
    check(cudaIpcOpenEventHandle(&event_, opaque), "cudaIpcOpenEventHandle", code::handle_invalid);
  }
  ~cuda_event() override {
    // While the driver unloads there is no context: the event ends with the process.
    if (const quiet_context current(context_); current) {
      if (cudaEventDestroy(event_) != cudaSuccess) static_cast<void>(cudaGetLastError());
      if (own_stream_ != nullptr && cudaStreamDestroy(own_stream_) != cudaSuccess)
        static_cast<void>(cudaGetLastError());
    }
  }

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
    refuse_capture(stream, "recorded");
    check(cudaEventRecord(event_, static_cast<cudaStream_t>(stream)), "recording an interprocess event");
  }
  void wait(void* stream) override {
    make_own_stream();
    const in_context current(context_.get());
    refuse_capture(stream, "awaited");
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), event_, 0), "waiting for an interprocess event");
  }
  [[nodiscard]] bool reached() const override {
    const in_context current(context_.get());
    const cudaError_t result = cudaEventQuery(event_);
    if (result == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    check(result, "asking for an interprocess event");
    return true;
  }
  void release_waits() override {
    make_own_stream();
    const in_context current(context_.get());
    check(cudaEventRecord(event_, own_stream_), "recording an interprocess event whose recorder has ended");
  }

 private:
  /// Made before there are waits, and of the highest priority: streams of one priority may share a queue of the GPU, in
  /// which a record would come after a wait.
  void make_own_stream() {
    std::call_once(own_stream_made_, [this] {
      const current_context current(context_.get());
      int least = 0;
      int greatest = 0;
      check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
      check(cudaStreamCreateWithPriority(&own_stream_, cudaStreamNonBlocking, greatest),
            "a stream that records an event");
    });
  }
  /// CUDA's own refusal would end the capture.
  static void refuse_capture(void* stream, const char* what) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status),
          "asking whether a stream is being captured");
    if (status != cudaStreamCaptureStatusNone)
      throw error(code::capturing,
                  fmt::format("an interprocess event can't be {} by a stream that is being captured into a graph: use "
                              "a pgas::timeline, which can",
                              what));
  }

  primary_context context_;
  cudaEvent_t event_ = nullptr;
  std::once_flag own_stream_made_;
  cudaStream_t own_stream_ = nullptr;  ///< of release_waits()
};

}  // namespace
}  // namespace cuda

using namespace cuda;

std::unique_ptr<stream_word> make_cuda_stream_word(int ordinal, std::span<std::byte> pages, std::uint64_t* word) {
  return std::make_unique<cuda_stream_word>(ordinal, pages, word);
}

std::unique_ptr<device_event> make_device_event(int ordinal) { return std::make_unique<cuda_event>(ordinal); }

std::unique_ptr<device_event> open_device_event(int ordinal, const event_handle& handle) {
  return std::make_unique<cuda_event>(ordinal, handle);
}

}  // namespace pgas::detail
