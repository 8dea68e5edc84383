/// @file
/// Puts the arrays of a list of copies into memory that kernels can access.
#pragma once

#include <array>

#include "device/cuda/driver.hpp"
#include "pgas/copy_list.hpp"

namespace pgas::detail::cuda {

/// Whether kernels of the current context can access `memory`.
/// @param pageable whether the GPU can access pageable memory of the host
[[nodiscard]] bool is_reachable(const void* memory, bool pageable);

/// Whether `memory` is pageable memory of the host, which no call of CUDA has allocated or registered. Also true if the
/// GPU can access pageable memory.
[[nodiscard]] bool is_pageable(const void* memory);

/// A list whose arrays kernels can access. The stream copies arrays in pageable memory to the GPU; the host may change
/// these arrays when the constructor has returned. The destructor frees the copies in the order of the stream, so the
/// object must live until the kernel that reads the list has been enqueued.
class reachable_list {
 public:
  /// *Callers* a thread whose current context is the GPU's. *Errors* capturing, for an array in pageable memory if the
  /// stream is being captured; invalid_argument, for an array in memory that kernels cannot access; out_of_memory,
  /// device_failed.
  reachable_list(const copy_list& list, CUstream stream);
  ~reachable_list();
  reachable_list(const reachable_list&) = delete;
  reachable_list& operator=(const reachable_list&) = delete;
  [[nodiscard]] const copy_list& list() const noexcept { return list_; }

 private:
  [[nodiscard]] const void* reachable(const void* array, std::size_t bytes);
  void free_copies() noexcept;

  CUstream stream_;
  std::array<CUdeviceptr, 2> copies_{};
  std::size_t n_copies_ = 0;
  copy_list list_;
};

}  // namespace pgas::detail::cuda
