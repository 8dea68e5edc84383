/// @file
/// RAII owners of a device's memory.
#pragma once

#include <utility>

#include "device/device.hpp"

namespace pgas::detail {

/// Owns memory that the host and kernels can both access (device::allocate_mapped). Move-only, initially empty.
class mapped_block {
 public:
  mapped_block() = default;
  mapped_block(device& owner, std::size_t bytes) : of_(&owner), memory_(owner.allocate_mapped(bytes)) {}
  mapped_block(mapped_block&& other) noexcept : of_(other.of_), memory_(std::exchange(other.memory_, {})) {}
  mapped_block& operator=(mapped_block&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~mapped_block() {
    if (memory_.host != nullptr) of_->free_mapped(memory_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return memory_.host != nullptr; }
  [[nodiscard]] void* on_host() const noexcept { return memory_.host; }
  [[nodiscard]] void* on_device() const noexcept { return memory_.device; }

 private:
  device* of_ = nullptr;
  mapped_memory memory_;
};

/// Owns memory for kernels only (device::allocate_device). Move-only, initially empty.
class device_block {
 public:
  device_block() = default;
  device_block(device& owner, std::size_t bytes) : of_(&owner), memory_(owner.allocate_device(bytes)) {}
  device_block(device_block&& other) noexcept : of_(other.of_), memory_(std::exchange(other.memory_, nullptr)) {}
  device_block& operator=(device_block&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~device_block() {
    if (memory_ != nullptr) of_->free_device(memory_);
  }

  [[nodiscard]] void* get() const noexcept { return memory_; }

 private:
  device* of_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace pgas::detail
