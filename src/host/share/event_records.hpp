/// @file
/// The records of an interprocess event as all of its processes see them: the process that made each record, and which
/// records were reached.
///
/// CUDA's own wait for an event has no end where the process that was to reach it has ended (driver 580: recording the
/// event again does not end it). Here a stream's record is a write of its number into a word, and a wait is for that
/// word; the process that detects the end writes it instead.
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

/// The memory that the processes share; initially zero. Each field is an atomic word.
struct record_page {
  /// The largest number of records that streams have not reached, over all processes: as many as CUDA queues in a
  /// stream.
  static constexpr std::uint64_t most_under_way = 1024;

  /// Of the records n, n + most_under_way, ...: only the last of them can be unfinished.
  struct slot {
    std::uint64_t reached;   ///< the number of the last record that was reached; lost_at() of one that was lost
    std::uint64_t recorder;  ///< process_name() of the process that made the last record
    std::uint64_t lost;      ///< the number of the last one that was not reached, as its process has ended
  };

  std::uint64_t records;    ///< the number of the last one
  std::uint64_t recording;  ///< process_name() of the process that is making a record, 0: none
  std::uint64_t any_lost;   ///< 1 from the first record on that was not reached, as its process has ended
  std::array<slot, most_under_way> slots;

  /// The value that ends the waits for a record of a process that has ended: above its number, as waits compare, and
  /// the number of no record of the same slot. So a reader of the word knows that the record was lost, even if several
  /// processes end it.
  [[nodiscard]] static constexpr std::uint64_t lost_at(std::uint64_t number) noexcept { return number + 1; }
  [[nodiscard]] slot& slot_of(std::uint64_t number) noexcept { return slots[number % most_under_way]; }
};

/// One process's part. *Callers* any thread.
class event_records {
 public:
  /// Whether a process has ended: its number then. @param name as process_name() *Errors* system.
  using end_of_process = std::function<std::optional<pid_t>(std::uint64_t name)>;

  /// @param me process_name() of this process
  event_records(record_page& page, std::unique_ptr<stream_words> words, std::uint64_t me, end_of_process ended)
      : page_(page), words_(std::move(words)), me_(me), ended_(std::move(ended)) {}

  /// The number of the last record, 0: none.
  [[nodiscard]] std::uint64_t count() const;
  /// Makes a record. Waits while `most_under_way` records are unfinished.
  /// @param beside called with the number claimed, before the word is enqueued. No more after a record was lost: a
  /// stream that records CUDA's event again waits for the lost record, for ever (driver 580)
  /// *On return* its number. *Errors* wait_timeout where a process was stopped while it made one; those of `beside`.
  std::uint64_t record(void* stream, const std::function<void()>& beside);
  /// Holds the stream until the last record has been reached, or its process has ended.
  void wait(void* stream);
  [[nodiscard]] bool reached(std::uint64_t number) const;
  /// Lets the waits for records of processes that have ended go on. *On return* the last such process that was found.
  std::optional<pid_t> release_lost();
  /// The process that has ended before its record was reached, for which wait() was called last.
  [[nodiscard]] std::optional<pid_t> lost_wait() const;
  /// The record for which wait() was called last, and its process; none once it is reached.
  struct awaited_record {
    std::uint64_t number;
    pid_t recorder;
  };
  [[nodiscard]] std::optional<awaited_record> awaited() const;

 private:
  /// Returns when no more than `most_under_way` would be, and this process alone makes records.
  std::uint64_t claim_next();
  void become_recorder();
  /// Marks a record as lost, permanently: a stream of the process that has ended may still write the number.
  void note_loss(record_page::slot& slot, std::uint64_t number);
  [[nodiscard]] static std::uint64_t oldest_under_way(std::uint64_t last);

  record_page& page_;
  std::unique_ptr<stream_words> words_;
  std::uint64_t me_;
  end_of_process ended_;
  std::mutex recording_;  ///< one thread of this process at a time
  std::atomic<std::uint64_t> awaited_{0};
};

}  // namespace pgas::detail
