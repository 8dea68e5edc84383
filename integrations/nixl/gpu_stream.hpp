/// @file
/// A stream of a GPU on which the backend copies, and the timeline that counts the completed copies.
#pragma once

#include <cstdint>
#include <memory>

#include "pgas/copy_list.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace pgas::nixl {

/// Whether this build copies memory of GPUs. The build needs CUDA's runtime for that.
[[nodiscard]] bool has_gpu_streams() noexcept;

/// A stream of the backend, which does not wait for the application's streams.
///
/// *Callers* one thread.
class gpu_stream {
 public:
  /// *Errors* device_unavailable; device_failed.
  explicit gpu_stream(memory_place place);
  ~gpu_stream();
  gpu_stream(const gpu_stream&) = delete;
  gpu_stream& operator=(const gpu_stream&) = delete;

  /// Enqueues the copies. @return the value of the timeline when the copies are complete. *Errors* as copy_blocks().
  [[nodiscard]] std::uint64_t copy(const copy_list& list);
  /// Whether the timeline has reached the value. *Errors* device_failed if the GPU has reported an error.
  [[nodiscard]] bool has_reached(std::uint64_t value) const;

 private:
  memory_place place_;
  void* stream_ = nullptr;
  timeline progress_;
  std::uint64_t recorded_ = 0;
};

}  // namespace pgas::nixl
