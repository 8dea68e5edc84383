/// @file
/// What exporting and importing of GPU memory have in common: the context of a GPU, and physical memory mapped to one
/// range of addresses.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/driver.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail::cuda {

/// Keeps a GPU's primary context, which the CUDA runtime of the program uses as well. Move-only.
class primary_context {
 public:
  /// *Errors* device_unavailable.
  explicit primary_context(int ordinal) : ordinal_(ordinal) {
    check(driver().primary_retain(&context_, ordinal), "cuDevicePrimaryCtxRetain", code::device_unavailable);
  }
  primary_context(primary_context&& other) noexcept
      : ordinal_(other.ordinal_), context_(std::exchange(other.context_, nullptr)) {}
  primary_context& operator=(primary_context&&) = delete;
  ~primary_context() {
    if (context_ != nullptr) static_cast<void>(driver().primary_release(ordinal_));
  }
  [[nodiscard]] CUcontext get() const noexcept { return context_; }
  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }

 private:
  int ordinal_;
  CUcontext context_ = nullptr;
};

/// Makes a context current for a destructor, which can't report that it could not.
class quiet_context {
 public:
  explicit quiet_context(const primary_context& of) noexcept
      : pushed_(of.get() != nullptr && driver().ctx_push(of.get()) == CUDA_SUCCESS) {}
  ~quiet_context() {
    CUcontext ignored = nullptr;
    if (pushed_) static_cast<void>(driver().ctx_pop(&ignored));
  }
  quiet_context(const quiet_context&) = delete;
  quiet_context& operator=(const quiet_context&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return pushed_; }

 private:
  relaxed_capture_scope undisturbed_;
  bool pushed_;
};

/// A piece of physical memory.
struct chunk {
  CUmemGenericAllocationHandle handle = 0;
  std::size_t bytes = 0;
};

/// Owns pieces of physical memory, and after map() the addresses at which they lie one behind the other.
class chunk_list {
 public:
  chunk_list() = default;
  chunk_list(chunk_list&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})),
        start_(std::exchange(other.start_, 0)),
        reserved_(std::exchange(other.reserved_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  chunk_list& operator=(chunk_list&&) = delete;
  ~chunk_list();

  void add(chunk one) { chunks_.push_back(one); }
  void set_bytes_of_last(std::size_t bytes) noexcept { chunks_.back().bytes = bytes; }
  [[nodiscard]] std::span<const chunk> all() const noexcept { return chunks_; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Maps all of it at new addresses, exactly as many as needed, for kernels of the GPU `ordinal`.
  /// *Errors* address_space, handle_invalid, peer_unreachable where that GPU can't reach the memory.
  void map(int ordinal, access importers);
  [[nodiscard]] CUdeviceptr start() const noexcept { return start_; }

 private:
  void unmap() noexcept;

  std::vector<chunk> chunks_;
  CUdeviceptr start_ = 0;
  std::size_t reserved_ = 0;
  std::size_t mapped_ = 0;
};

using gpu_id = std::array<std::byte, 16>;
/// *Errors* device_unavailable.
[[nodiscard]] gpu_id uuid_of(int ordinal);
/// The GPU with that UUID, as this process counts, if it sees it.
[[nodiscard]] std::optional<int> gpu_with(const gpu_id& uuid);
/// *Errors* device_unavailable.
[[nodiscard]] int visible_gpus();
/// "GPU-0123...", as nvidia-smi prints it.
[[nodiscard]] std::string text_of(const gpu_id& uuid);

}  // namespace pgas::detail::cuda
