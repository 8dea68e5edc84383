/// @file
/// The state of an interprocess event in one process: CUDA's event, and the shared page with the records of all
/// processes.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "device/device_event.hpp"
#include "device/visible_gpus.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/event_records.hpp"
#include "host/share/shared_page.hpp"
#include "host/share/wait_alarm.hpp"
#include "host/share/wait_watch.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// The memory that the processes share.
struct event_page {
  gpu_uuid uuid;
  event_handle handle;
  std::uint64_t shm_device;  ///< the device number of the maker's /dev/shm, where CUDA keeps the event
  std::uint64_t shm_inode;
  std::uint64_t destroyed;  ///< an atomic word
  record_page records;
};

/// Implements ipc_event. The functions are documented there.
class event_state final : public deferred_object, private watched {
 public:
  [[nodiscard]] static std::shared_ptr<event_state> make(memory_place place);
  [[nodiscard]] static std::shared_ptr<event_state> share(memory_place place, void* event);
  [[nodiscard]] static std::shared_ptr<event_state> open(std::string_view ticket, const open_options& options);
  event_state(shared_page shared, int ordinal, std::unique_ptr<device_event> event);
  ~event_state() override;

  /// The object that tickets open. Guarded by mutex().
  [[nodiscard]] shared_page& shared() noexcept { return shared_; }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// Whether no other process has the event open. CUDA's wait for a destroyed event never ends.
  [[nodiscard]] bool can_end() noexcept override;

  [[nodiscard]] void* native() const noexcept { return event_->native(); }
  [[nodiscard]] std::uint64_t records() const { return records_.count(); }
  std::uint64_t record(void* stream);
  void wait(void* stream);
  [[nodiscard]] bool reached();
  /// Throws peer_lost if a wait has ended, or would end, because its record was lost.
  void check();

 private:
  /// Makes an event that has no ticket yet.
  [[nodiscard]] static std::shared_ptr<event_state> share(int ordinal, std::unique_ptr<device_event> event);
  [[nodiscard]] static std::shared_ptr<event_state> owned(std::unique_ptr<event_state> result);
  void look() noexcept override;
  void watch();
  void check_maker();
  void check_recorded();
  /// @param name as process_name()
  [[nodiscard]] std::optional<pid_t> end_of(std::uint64_t name);

  std::mutex mutex_;  ///< guards the tickets of the page, and watch_
  shared_page shared_;
  std::unique_ptr<device_event> event_;
  event_page* page_;
  std::uint64_t me_;  ///< process_name() of this process
  event_records records_;
  wait_alarm alarm_;                   ///< for the waits of streams; used by the watch only
  std::uint64_t seen_ = 0;             ///< the record for which streams waited at the last check of the watch
  std::shared_ptr<wait_watch> watch_;  ///< set at the start in the maker, and at the first wait in other processes
};

}  // namespace pgas::detail
