/// @file
/// An order for work that shares state and is enqueued on several streams. The collectives of a team use it.
#pragma once

namespace pgas::detail {

/// Each piece of work runs after the previous piece, even if the two pieces are on different streams. Streams of
/// earlier pieces can already be destroyed. *Callers* one thread at a time, which calls before(), enqueues one piece
/// and calls after(). *Errors* device_failed; the errors of before().
class stream_order {
 public:
  stream_order() = default;
  virtual ~stream_order() = default;
  stream_order(const stream_order&) = delete;
  stream_order& operator=(const stream_order&) = delete;

  /// Makes `stream` wait until the previous work is done. Returns whether the stream is being captured. *Errors*
  /// capturing if the stream cannot wait for that work, because the work's stream is now being captured. After this
  /// error the caller must not enqueue its work.
  virtual bool before(void* stream) = 0;
  /// Called when the work is enqueued on `stream`.
  virtual void after(void* stream) = 0;
};

}  // namespace pgas::detail
