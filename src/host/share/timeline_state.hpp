/// @file
/// The state of a timeline in one process: the page that all processes map, and the process that records values.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/stream_words.hpp"
#include "device/visible_gpus.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/shared_page.hpp"
#include "host/share/wait_alarm.hpp"
#include "host/share/wait_watch.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace pgas::detail {

/// The memory that the processes share. Each field is an atomic word, because any process may write it.
struct timeline_page {
  /// `closing`: the maker has dropped the timeline, but streams of the maker can still reach recorded values.
  enum class phase : std::uint64_t { open, lost, destroyed, closing };

  std::uint64_t on_gpu;  ///< whether `uuid` names the maker's GPU
  gpu_uuid uuid;
  alignas(128) std::uint64_t word;  ///< the value; after release_waits() the word is above max_value, see released_at()
  alignas(128) std::uint64_t recorded;
  std::uint64_t writer;  ///< process_name() of the last recording process; 0: none
  /// The lowest 8 bits are a timeline_page::phase. The other bits are the id of the process that has ended, or that has
  /// closed the timeline.
  std::uint64_t phase_word;
};

/// Implements timeline. The functions are documented there.
class timeline_state final : public std::enable_shared_from_this<timeline_state>,
                             public deferred_object,
                             private watched {
 public:
  [[nodiscard]] static std::shared_ptr<timeline_state> make(memory_place place);
  /// Opens a ticket of a timeline, or the timeline that a ticket of memory carries.
  [[nodiscard]] static std::shared_ptr<timeline_state> open(const ticket& which, const open_options& options);
  timeline_state(shared_page shared, memory_place place);
  /// @param words for the streams of `place`
  timeline_state(shared_page shared, memory_place place, std::unique_ptr<stream_words> words);
  /// A second object of an opened timeline, for streams of `place`; if `place` is empty, for streams of the maker's
  /// place.
  /// *Errors* device_unavailable.
  [[nodiscard]] std::shared_ptr<timeline_state> again(std::optional<memory_place> place) const;
  ~timeline_state() override;
  /// Returns a shared owner of the timeline. The last owner closes the timeline. The timeline is destroyed when streams
  /// have completed the work that can use the timeline.
  [[nodiscard]] static std::shared_ptr<timeline_state> owned(std::unique_ptr<timeline_state> result);

  /// The object that tickets open. Guarded by mutex().
  [[nodiscard]] shared_page& shared() noexcept { return shared_; }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// The number under which a ticket of memory carries the timeline. *Errors* invalid_argument unless this process made
  /// the timeline.
  [[nodiscard]] std::uint64_t export_id();
  /// *Errors* forked_process.
  void check_process() const;

  void record(void* stream, std::uint64_t value);
  void set(std::uint64_t value);
  void wait(void* stream, std::uint64_t value);
  void wait_host(std::uint64_t value, std::chrono::milliseconds timeout);
  [[nodiscard]] std::uint64_t query() const;
  [[nodiscard]] std::uint64_t recorded() const;
  [[nodiscard]] std::uint64_t* word() const noexcept { return words_->address(&page_->word); }
  [[nodiscard]] memory_place place() const noexcept { return place_; }
  /// The process that has ended before it recorded all values. Empty while the values can still arrive. Must not be
  /// called under mutex().
  [[nodiscard]] std::optional<pid_t> find_loss() { return find_loss(timeline::max_value); }
  /// Throws peer_lost.
  [[noreturn]] void throw_loss(pid_t lost) const;
  /// *Errors* peer_lost if waits of streams have ended before the value arrived.
  void check_waits() const;

 private:
  void look() noexcept override;
  /// Called when the program releases its last object of this timeline. From then on no new value is recorded, and
  /// waits for new values end.
  void close() noexcept;
  /// find_loss() for one value. In a closing timeline, recorded values still arrive.
  [[nodiscard]] std::optional<pid_t> find_loss(std::uint64_t value);
  /// Starts the supervision of waits of GPU streams.
  void watch();
  static void check_value(std::uint64_t value);
  /// Checks the value and the timeline, and notes this process as the writer, before a value is recorded.
  void begin_record(std::uint64_t value);
  /// Throws peer_lost if the value is missing and cannot arrive any more. Queries the system at intervals only.
  void check_wait(std::uint64_t value);
  /// Whether the last query of the system is older than the interval.
  [[nodiscard]] bool look_is_due();
  [[nodiscard]] std::optional<pid_t> find_lost_exporter();
  [[nodiscard]] std::optional<pid_t> find_lost_opener();
  struct state {
    timeline_page::phase phase;
    pid_t pid;  ///< the process that ended the phase `open`
  };
  [[nodiscard]] state now() const;
  /// Ends the phase `from`. If several processes end the phase, the page keeps the id of the first process.
  void set_phase(state from, timeline_page::phase to, pid_t by) noexcept;
  /// " on node17" if another process has made the timeline; for messages.
  [[nodiscard]] std::string on_host() const;
  void release_waits(pid_t lost);
  /// The text that wait_alarm logs for a wait for `value`.
  [[nodiscard]] std::string text_of_wait(const char* waiter, std::uint64_t value, const std::string& lasted) const;

  std::mutex mutex_;  ///< guards the members up to page_
  shared_page shared_;
  std::set<pid_t> openers_;  ///< set in the maker: the processes that had the timeline open at the last check
  /// A process that has ended before it recorded all values; empty once another process records.
  std::optional<pid_t> lost_;
  timeline_page* page_;
  memory_place place_;
  std::uint64_t me_;  ///< process_name() of this process
  std::unique_ptr<stream_words> words_;
  std::atomic<std::uint64_t> awaited_{0};    ///< the largest value that a stream of a GPU waits for
  std::atomic<std::uint64_t> next_look_{0};  ///< the time of the next query whether the other process
                                             ///< lives; see look_is_due()
  std::atomic<bool> known_loss_{false};      ///< the last call of find_loss() has returned a process
  std::shared_ptr<wait_watch> watch_;        ///< set from the first wait of a GPU stream on
  wait_alarm alarm_;                         ///< for the waits of GPU streams; used by the watch only
  std::uint64_t seen_ = 0;                   ///< the value at the last check of the watch
};

}  // namespace pgas::detail
