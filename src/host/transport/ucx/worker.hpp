/// @file
/// A UCX context with the one worker that a PE has, and its start-up settings.
#pragma once

#include <string>

#include "host/transport/transports.hpp"
#include "host/transport/ucx/library.hpp"

namespace pgas::detail {

/// Owns context and worker. Memory may be mapped on any thread; the worker is for one thread at a time.
class ucx_worker {
 public:
  /// *Errors* transport_failed with UCX's words.
  explicit ucx_worker(const ucx_settings& settings);
  ~ucx_worker();
  ucx_worker(const ucx_worker&) = delete;
  ucx_worker& operator=(const ucx_worker&) = delete;

  [[nodiscard]] const ucx_library& library() const noexcept { return library_; }
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  /// Readable when an armed worker has something to do.
  [[nodiscard]] int event_fd() const noexcept { return event_fd_; }
  [[nodiscard]] blob address() const;
  /// Whether this UCX moves bytes of CUDA's memory.
  [[nodiscard]] bool reaches_cuda() const noexcept { return reaches_cuda_; }
  /// Before the end: a PE has died with requests half out. UCX would warn of each of them.
  void leave_unfinished() noexcept { unfinished_ = true; }

 private:
  void start_context(const ucx_settings& settings);
  void start_worker();
  void stop() noexcept;
  void check(ucs_status_t status, const char* what) const;

  const ucx_library& library_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  bool reaches_cuda_ = false;
  bool unfinished_ = false;
};

}  // namespace pgas::detail
