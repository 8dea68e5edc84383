/// @file
/// One process's part of an interprocess event: CUDA's event, and the page that tells who has recorded it how often.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/fork_guard.hpp"
#include "device/stream_sync.hpp"
#include "host/share/shared_page.hpp"
#include "host/share/wait_watch.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// What the processes share. Fields behind `handle` are atomic words: any of them may be writing.
struct event_page {
  gpu_uuid uuid;
  event_handle handle;
  std::uint64_t shm_device;  ///< of the maker's /dev/shm, where CUDA keeps the event
  std::uint64_t shm_inode;
  std::uint64_t records;
  std::uint64_t recorder;  ///< process_name() of who recorded last, 0: nobody
  std::uint64_t destroyed;
};

/// What ipc_event's functions do; its documentation counts.
///
/// CUDA's wait for a record that does not come any more has no end. Where the process that was to reach it has ended,
/// the waiting one records the event itself: its semaphore only grows, so that this ends all waits for earlier records.
class event_state final : private watched {
 public:
  [[nodiscard]] static std::shared_ptr<event_state> make(memory_place place);
  [[nodiscard]] static std::shared_ptr<event_state> open(std::string_view ticket, const open_options& options);
  event_state(shared_page shared, std::unique_ptr<device_event> event);
  ~event_state() override;

  /// What tickets open. Guarded by mutex().
  [[nodiscard]] shared_page& shared() noexcept { return shared_; }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] bool is_of_this_process() const noexcept { return owner_.in_creator(); }
  /// Tells importers. Not the destructor: the event is kept for them.
  void set_destroyed() noexcept;

  [[nodiscard]] std::uint64_t records() const;
  std::uint64_t record(void* stream);
  void wait(void* stream);
  [[nodiscard]] bool reached();
  /// Throws peer_lost where waits have ended without their record, or would.
  void check();

 private:
  void look() noexcept override;
  void watch();
  /// Whether streams may wait for the last record.
  [[nodiscard]] bool may_wait() const;
  void check_maker();
  void check_recorded();
  /// Who recorded last, where that process has ended.
  [[nodiscard]] std::optional<pid_t> find_lost_recorder();

  fork_guard owner_;
  std::mutex mutex_;  ///< guards the page's tickets, and watch_
  shared_page shared_;
  std::unique_ptr<device_event> event_;
  event_page* page_;
  std::uint64_t me_;                   ///< process_name() of this process
  std::atomic<bool> awaited_{false};   ///< a stream may wait
  std::atomic<pid_t> lost_{0};         ///< who has ended before its record was reached, since the last wait()
  std::shared_ptr<wait_watch> watch_;  ///< from the first wait on
};

}  // namespace pgas::detail
