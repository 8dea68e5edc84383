/// @file
/// One process's part of a timeline: the page that all of them map, and who is to record in it.
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

#include "common/fork_guard.hpp"
#include "device/stream_words.hpp"
#include "device/visible_gpus.hpp"
#include "host/share/shared_page.hpp"
#include "host/share/wait_watch.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// What the processes share. Each field is an atomic word: any of them may be writing.
struct timeline_page {
  enum class phase : std::uint64_t { open, lost, destroyed };

  std::uint64_t on_gpu;  ///< whether `uuid` names the maker's GPU
  gpu_uuid uuid;
  alignas(128) std::uint64_t word;  ///< the value, or `released` where a wait has been ended
  alignas(128) std::uint64_t recorded;
  std::uint64_t writer;      ///< process_name() of who recorded last, 0: nobody
  std::uint64_t phase_word;  ///< timeline_page::phase
  std::uint64_t last_value;  ///< of `word`, before it was released
  std::uint64_t lost_pid;    ///< who has ended
};

/// What timeline's functions do; its documentation counts.
class timeline_state final : public std::enable_shared_from_this<timeline_state>, private watched {
 public:
  [[nodiscard]] static std::shared_ptr<timeline_state> make(memory_place place);
  /// Opens a ticket of a timeline, or the timeline that a ticket of memory carries.
  [[nodiscard]] static std::shared_ptr<timeline_state> open(const ticket& which, const open_options& options);
  timeline_state(shared_page shared, memory_place place);
  /// One that was opened, for streams of `place`; not set: of its maker's. *Errors* device_unavailable.
  [[nodiscard]] std::shared_ptr<timeline_state> again(std::optional<memory_place> place) const;
  ~timeline_state() override;

  /// What tickets open. Guarded by mutex().
  [[nodiscard]] shared_page& shared() noexcept { return shared_; }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// By which a ticket of memory carries it. *Errors* invalid_argument unless it was made here.
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
  /// The process without which values still to come can't come; none while they can. Not to be called under mutex().
  [[nodiscard]] std::optional<pid_t> find_loss();
  /// Throws peer_lost.
  [[noreturn]] void throw_loss(pid_t lost) const;
  /// *Errors* peer_lost where waits of streams have ended without their value.
  void check_waits() const;

 private:
  void look() noexcept override;
  /// Has the waits of GPU streams looked after.
  void watch();
  static void check_value(std::uint64_t value);
  /// What comes before a value is recorded.
  void announce(std::uint64_t value);
  /// Throws peer_lost where the value has not come and can't; asks the system once in a while only.
  void check_wait(std::uint64_t value);
  /// Whether it is some time since the system was asked last.
  [[nodiscard]] bool look_is_due();
  [[nodiscard]] std::optional<pid_t> find_lost_exporter();
  [[nodiscard]] std::optional<pid_t> find_lost_opener();
  [[nodiscard]] timeline_page::phase phase() const;
  /// " on node17" where the timeline is another process's; for messages.
  [[nodiscard]] std::string on_host() const;
  void release_waits(pid_t lost);

  fork_guard owner_;
  std::mutex mutex_;  ///< guards what follows, up to page_
  shared_page shared_;
  std::set<pid_t> openers_;    ///< that were there at the last look, in the process that has made the timeline
  std::optional<pid_t> lost_;  ///< one of them that was to record, until another comes
  timeline_page* page_;
  memory_place place_;
  std::uint64_t me_;  ///< process_name() of this process
  std::unique_ptr<stream_words> words_;
  std::atomic<std::uint64_t> awaited_{0};   ///< the largest value that a stream of a GPU waits for
  std::atomic<std::int64_t> next_look_{0};  ///< of check_now_and_then()
  std::atomic<bool> known_loss_{false};     ///< find_loss() has found one the last time
  std::shared_ptr<wait_watch> watch_;       ///< from the first such wait on
};

}  // namespace pgas::detail
