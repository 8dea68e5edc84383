// Implements words for streams with the driver's stream memory operations.
#include "device/stream_words.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "device/cuda/primary_context.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

/// Host memory that this process has registered with CUDA, for all of its GPUs. Memory can be registered only once.
class registered_pages {
 public:
  void add(std::span<std::byte> pages) {
    const std::lock_guard lock(mutex_);
    if (int& users = users_[pages.data()]; users++ > 0) return;
    const CUresult result =
        driver().host_register(pages.data(), pages.size(), CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE);
    if (result == CUDA_SUCCESS) return;
    users_.erase(pages.data());
    check(result, "cuMemHostRegister of a page of stream words");
  }
  void remove(std::span<std::byte> pages) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = users_.find(pages.data());
    if (found == users_.end() || --found->second > 0) return;
    users_.erase(found);
    static_cast<void>(driver().host_unregister(pages.data()));
  }
  /// The object is never destroyed, because static objects of the program can outlive it.
  static registered_pages& of_process() {
    static auto& item = *new registered_pages;
    return item;
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, int> users_;
};

class cuda_stream_words final : public stream_words {
 public:
  cuda_stream_words(int ordinal, std::span<std::byte> pages) : context_(ordinal), pages_(pages) {
    int supported = 0;
    check(driver().attribute(&supported, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, ordinal),
          "cuDeviceGetAttribute");
    if (supported == 0)
      throw error(code::device_unavailable,
                  fmt::format("GPU {} has no stream memory operations of 64 bits, which a timeline and an interprocess "
                              "event need: make a timeline on the host",
                              ordinal));
    const current_context current(context_.get());
    registered_pages::of_process().add(pages_);
    CUdeviceptr address = 0;
    const CUresult result = driver().host_pointer(&address, pages_.data(), 0);
    if (result != CUDA_SUCCESS) {
      registered_pages::of_process().remove(pages_);
      check(result, "cuMemHostGetDevicePointer");
    }
    on_device_ = reinterpret_cast<std::byte*>(address);
  }
  ~cuda_stream_words() override {
    // While the driver unloads, the context does not exist. The registration then ends with the process.
    if (const quiet_context current(context_.get()); current) registered_pages::of_process().remove(pages_);
  }

  [[nodiscard]] std::uint64_t* address(std::uint64_t* word) const noexcept override {
    return reinterpret_cast<std::uint64_t*>(on_device_ + (reinterpret_cast<std::byte*>(word) - pages_.data()));
  }

  void write(void* stream, std::uint64_t* word, std::uint64_t value, std::shared_ptr<const void>) override {
    const in_context current(context_.get());
    // With the default flags, the driver executes a fence of system scope before the store.
    check(driver().write_value(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(address(word)), value,
                               CU_STREAM_WRITE_VALUE_DEFAULT),
          "a stream's record: cuStreamWriteValue64");
  }

  void wait(void* stream, std::uint64_t* word, std::uint64_t value, std::function<void()>) override {
    const in_context current(context_.get());
    check(driver().wait_value(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(address(word)), value,
                              CU_STREAM_WAIT_VALUE_GEQ),
          "a stream's wait: cuStreamWaitValue64");
  }

  [[nodiscard]] bool wait_on_device() const noexcept override { return true; }

 private:
  primary_context context_;
  std::span<std::byte> pages_;
  std::byte* on_device_ = nullptr;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<stream_words> make_cuda_stream_words(int ordinal, std::span<std::byte> pages) {
  return std::make_unique<cuda::cuda_stream_words>(ordinal, pages);
}

}  // namespace pgas::detail
