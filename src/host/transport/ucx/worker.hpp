/// @file
/// The UCX context of a PE and its one worker.
#pragma once

#include <string>

#include "host/log/logger.hpp"
#include "host/transport/ucx/libucp.hpp"
#include "host/transport/ucx/ucx_settings.hpp"

namespace pgas::detail {

/// Owns the context and the worker. *Callers* any thread for mapping memory; one thread at a time for the worker.
class ucx_worker {
 public:
  /// *Errors* transport_failed with the message of UCX; also transport_failed if UCX would end the process or connect
  /// no PEs; system if no thread can be started.
  explicit ucx_worker(const ucx_settings& settings);
  ~ucx_worker();
  ucx_worker(const ucx_worker&) = delete;
  ucx_worker& operator=(const ucx_worker&) = delete;

  [[nodiscard]] const ucx_library& library() const noexcept { return library_; }
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  /// Readable when an armed worker has work.
  [[nodiscard]] int event_fd() const noexcept { return event_fd_; }
  [[nodiscard]] blob address() const;
  /// Whether this UCX can access CUDA memory.
  [[nodiscard]] bool reaches_cuda() const noexcept { return reaches_cuda_; }
  /// The end of an error about a PE that UCX does not reach, see pgas::detail::why_unreachable().
  [[nodiscard]] const std::string& why_unreachable() const noexcept { return why_unreachable_; }
  /// Called when a PE has died with requests in flight. After this call, UCX prints no warnings about these requests at
  /// the end.
  void leave_unfinished() noexcept { unfinished_ = true; }

 private:
  void start_context(const ucx_settings& settings);
  void start_worker(bool uses_shared_memory);
  void stop() noexcept;
  /// @param why the possible reason: a sentence that follows a full stop, or empty
  void check(ucs_status_t status, const char* what, const std::string& why = {}) const;

  const ucx_library& library_;
  const std::string why_unreachable_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  bool reaches_cuda_ = false;
  bool unfinished_ = false;
};

}  // namespace pgas::detail
