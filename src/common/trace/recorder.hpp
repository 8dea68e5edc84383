/// @file
/// Records events of threads in memory of a fixed size.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/trace/event.hpp"

namespace pgas::trace {

/// The clock of host events.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct recorded_event {
  event_facts facts;
  const char* name = nullptr;  ///< a string that is valid until the process ends
};

/// Each thread that records has a separate ring, which no other thread writes. The thread takes a lock only at its
/// first event. A full ring loses its oldest events, and counts the lost events.
class recorder {
 public:
  static constexpr std::size_t most_threads = 64;  ///< events of any further thread are lost and counted
  /// The number of events that a ring holds. These events need 6 MiB; the system allocates each page when it is first
  /// written.
  static constexpr std::size_t usual_events = std::size_t{1} << 16;

  explicit recorder(std::size_t events_per_thread = usual_events);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// *Callers* any thread, until close(). Later events are ignored.
  void add(const recorded_event& event) noexcept;

  /// The records of one thread, the oldest first.
  struct thread_events {
    int thread = 0;    ///< the system's id of the thread
    std::string name;  ///< the system's name of the thread
    std::vector<recorded_event> events;
    std::uint64_t lost = 0;
  };
  /// Ends recording. Returns when no thread is in add() any more.
  void close() noexcept;
  /// *Callers* one thread, after close().
  [[nodiscard]] std::vector<thread_events> take() const;
  /// The number of events that were lost because their thread has no ring.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  struct ring;
  [[nodiscard]] ring* mine() noexcept;
  [[nodiscard]] ring* make_ring() noexcept;

  const std::size_t capacity_;
  const std::uint64_t id_;  ///< the id of this recorder, which no other recorder has had
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> lost_{0};
  mutable std::mutex mutex_;  ///< guards rings_
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace pgas::trace
