/// @file
/// The order of work on several streams of the CPU.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "device/cpu/host_stream.hpp"
#include "device/stream_order.hpp"

namespace pgas::detail {

/// After each piece of work, a task on the same stream increments a count. If the next piece is on another stream, that
/// stream waits for this count. The pointer to the last stream is only compared and not dereferenced, because the
/// stream may have been destroyed. A new stream at the same address need not wait, because the destructor of the old
/// stream has waited for its tasks.
class host_stream_order final : public stream_order {
 public:
  bool before(void* stream) override {
    if (stream == last_ || enqueued_ == 0) return false;
    static_cast<host_stream*>(stream)->run(
        [done = done_, number = enqueued_] {
          std::unique_lock lock(done->mutex);
          done->changed.wait(lock, [&] { return done->count >= number; });
        },
        host_stream::place::worker);
    return false;
  }
  void after(void* stream) override {
    last_ = stream;
    static_cast<host_stream*>(stream)->run(
        [done = done_, number = ++enqueued_] {
          const std::lock_guard lock(done->mutex);
          done->count = number;
          done->changed.notify_all();
        },
        host_stream::place::worker);
  }

 private:
  /// Shared with the tasks, because tasks can outlive this object.
  struct progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t count = 0;
  };
  const std::shared_ptr<progress> done_ = std::make_shared<progress>();
  std::uint64_t enqueued_ = 0;
  void* last_ = nullptr;
};

}  // namespace pgas::detail
