/// @file
/// An order of work that shares state and is enqueued on several streams. Used by the collectives of a team.
#pragma once

namespace pgas::detail {

/// Each piece of work runs after the one before it, whatever streams they are enqueued on. The streams may have been
/// destroyed since. *Callers* one thread at a time, which calls before(), enqueues one piece and calls after().
/// *Errors* device_failed; those of before().
class stream_order {
 public:
  stream_order() = default;
  virtual ~stream_order() = default;
  stream_order(const stream_order&) = delete;
  stream_order& operator=(const stream_order&) = delete;

  /// Holds `stream` until the work before is done. Whether the stream is being captured. *Errors* capturing where that
  /// work can't be waited for, because its stream is being captured by now. Nothing is to be enqueued then.
  virtual bool before(void* stream) = 0;
  /// The work is enqueued on `stream`.
  virtual void after(void* stream) = 0;
};

}  // namespace pgas::detail
