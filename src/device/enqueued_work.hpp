/// @file
/// Marks the end of all work that is enqueued on the streams of this process at a point in time. The host library uses
/// the mark to release an object only when no stream can use the object any more.
#pragma once

#include <memory>

namespace pgas::detail {

/// The work that was enqueued on streams up to a point in time. *Callers* one thread at a time.
class enqueued_work {
 public:
  enqueued_work() = default;
  virtual ~enqueued_work() = default;
  enqueued_work(const enqueued_work&) = delete;
  enqueued_work& operator=(const enqueued_work&) = delete;

  /// Whether all of the work has run. Does not wait.
  [[nodiscard]] virtual bool has_passed() = 0;
};

/// Marks the work of all streams of the host heap, in all worlds.
[[nodiscard]] std::unique_ptr<enqueued_work> work_of_host_streams();
/// Marks the work of all GPUs in this process: the work of any library on all streams of the primary contexts. A
/// context that has failed runs no work any more.
/// *Errors* capturing while a stream is being captured; the caller retries later.
[[nodiscard]] std::unique_ptr<enqueued_work> work_of_gpus();

}  // namespace pgas::detail
