/// @file
/// The records of an interprocess event. The processes that use the event share a page. The page contains which process
/// made each record, and which records the streams have reached.
///
/// CUDA's own wait for an event never ends if the recording process has ended (driver 580; a second record does not end
/// the wait either). In this implementation, a stream records by writing a number into a word, and a wait waits for
/// this word. If the recording process has ended, another process detects it and writes the word instead of the ended
/// process.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "device/stream_words.hpp"

namespace pgas::detail {

/// The memory that the processes share, zero at the start. Each field is an atomic word.
struct record_page {
  /// The largest number of records that streams have not reached, over all processes. CUDA queues the same number in a
  /// stream.
  static constexpr std::uint64_t most_under_way = 1024;

  /// The state of the records n, n + most_under_way, and so on. Only the newest of these records can be unfinished.
  struct slot {
    std::uint64_t reached;   ///< the number of the last record that was reached; lost_at() if the record was lost
    std::uint64_t recorder;  ///< process_name() of the process that made the last record
    std::uint64_t lost;      ///< the number of the last lost record: the process ended before the record was reached
  };

  std::uint64_t records;    ///< the number of the last record
  std::uint64_t recording;  ///< process_name() of the process that is making a record; 0: none
  std::uint64_t any_lost;   ///< 1 once any record is lost
  std::array<slot, most_under_way> slots;

  /// The value of `reached` that ends the waits for a lost record. A wait ends at any value of at least the record's
  /// number, and this value is larger. No record of the same slot has this value as its number, so a reader of the word
  /// knows that the record was lost.
  [[nodiscard]] static constexpr std::uint64_t lost_at(std::uint64_t number) noexcept { return number + 1; }
  [[nodiscard]] slot& slot_of(std::uint64_t number) noexcept { return slots[number % most_under_way]; }
};

/// The records of an event, in one process. *Callers* any thread.
class event_records {
 public:
  /// Returns the process id of a process if the process has ended. @param name as process_name() *Errors* system.
  using end_of_process = std::function<std::optional<pid_t>(std::uint64_t name)>;

  /// @param me process_name() of this process
  event_records(record_page& page, std::unique_ptr<stream_words> words, std::uint64_t me, end_of_process ended)
      : page_(page), words_(std::move(words)), me_(me), ended_(std::move(ended)) {}

  /// The number of the last record; 0: none.
  [[nodiscard]] std::uint64_t count() const;
  /// Makes a record. Waits while `most_under_way` records are unfinished.
  /// @param beside called after the number is claimed and before the word is enqueued. `beside` is not called after any
  /// record was lost, because a stream that records CUDA's event again would wait for the lost record forever (driver
  /// 580).
  /// *On return* the number of the record.
  /// *Errors* wait_timeout if a process stopped while it made a record; the errors of `beside`.
  std::uint64_t record(void* stream, const std::function<void()>& beside);
  /// Makes the stream wait until the last record has been reached, or until the process that made the record has ended.
  void wait(void* stream);
  [[nodiscard]] bool reached(std::uint64_t number) const;
  /// Ends the waits for records of processes that have ended. *On return* the last process that was found to have
  /// ended.
  std::optional<pid_t> release_lost();
  /// Returns the process that made the record for which wait() was called last, if the process ended before the record
  /// was reached.
  [[nodiscard]] std::optional<pid_t> lost_wait() const;
  /// The record for which wait() was called last, and the process that made the record. Empty once the record is
  /// reached.
  struct awaited_record {
    std::uint64_t number;
    pid_t recorder;
  };
  [[nodiscard]] std::optional<awaited_record> awaited() const;

 private:
  /// Waits until fewer than `most_under_way` records are unfinished, and no other process makes a record.
  std::uint64_t claim_next();
  void become_recorder();
  /// Marks a record as lost permanently. The stream of the ended process can still write the number later.
  void note_loss(record_page::slot& slot, std::uint64_t number);
  [[nodiscard]] static std::uint64_t oldest_under_way(std::uint64_t last);

  record_page& page_;
  std::unique_ptr<stream_words> words_;
  std::uint64_t me_;
  end_of_process ended_;
  std::mutex recording_;  ///< the thread of this process that makes a record holds this lock
  std::atomic<std::uint64_t> awaited_{0};
};

}  // namespace pgas::detail
