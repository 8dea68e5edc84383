/// @file
/// The waits and writes that the host has last enqueued on streams, in their order. The entries show the work that a
/// waiting stream has not run yet. Used by wait_report.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"

namespace pgas::detail {

/// The last entries of all streams of a PE. The log does not know when entries have run, but entries that follow an
/// unfinished wait have not run. A write is listed only if its stream has an unfinished wait. Work that is captured
/// into a graph is not listed, because the graph can run on another stream. *Callers* any thread, in the order in which
/// the thread enqueues work on a stream.
class stream_log {
 public:
  struct write {
    const char* what;
    int pe;                ///< the PE that owns the written memory
    std::uint64_t offset;  ///< the offset in the heap
    std::uint64_t bytes;
  };

  /// @param on the device of the streams; the device must outlive this object
  explicit stream_log(device& on) : device_(on) {}
  stream_log(const stream_log&) = delete;
  stream_log& operator=(const stream_log&) = delete;

  /// Adds a wait that is enqueued on `stream`. The result becomes part of the request of the wait. @returns number 0 if
  /// the stream is being captured
  [[nodiscard]] wait_ticket add_wait(stream_handle stream);
  /// Adds a collective of a team. The collective is enqueued on `stream`, and `stream` is not being captured.
  void add_collective(stream_handle stream, control_group::identity team);
  /// Adds a write that is enqueued. @param one the write; its `what` must stay valid until the process ends
  void add_write(stream_handle stream, const write& item) noexcept {
    if (stream != nullptr && any_.load(std::memory_order_relaxed)) add_behind_wait(stream, item);
  }

  /// The known writes that follow a wait on the same stream.
  [[nodiscard]] std::vector<write> behind(wait_ticket wait) const;
  /// The known writes after the last collective of a team.
  [[nodiscard]] std::vector<write> behind_collective(control_group::identity team) const;

 private:
  enum class kind : std::uint8_t { nothing, wait, collective, write };
  struct entry {
    kind what = kind::nothing;
    std::uint64_t stream = 0;  ///< device::number_of()
    std::uint64_t number = 0;  ///< counted from 1 over all entries
    control_group::identity team = 0;
    write enqueued{};
  };
  static constexpr std::size_t length = 512;

  void add_behind_wait(stream_handle stream, const write& item) noexcept;
  entry& next(kind what, std::uint64_t stream);
  [[nodiscard]] bool waits(std::uint64_t stream) const;
  [[nodiscard]] std::vector<write> behind(const entry& first) const;

  device& device_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::array<entry, length>> entries_;  ///< allocated at the first wait
  std::uint64_t last_ = 0;                              ///< the last number
  std::map<std::uint64_t, std::uint64_t> last_waits_;   ///< for each stream, the number of its last wait or collective
  std::atomic<bool> any_{false};                        ///< whether any wait or collective was added
};

}  // namespace pgas::detail
