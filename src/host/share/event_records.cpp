#include "host/share/event_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "common/process_identity.hpp"
#include "host/share/wait_alarm.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// The longest time in which a process makes one record. A record takes microseconds.
constexpr std::chrono::seconds longest_recording{10};

std::atomic_ref<std::uint64_t> atomic(std::uint64_t& word) { return std::atomic_ref(word); }

}  // namespace

std::uint64_t event_records::count() const { return atomic(page_.records); }

bool event_records::reached(std::uint64_t number) const { return atomic(page_.slot_of(number).reached) >= number; }

void event_records::become_recorder() {
  const auto end = std::chrono::steady_clock::now() + longest_recording;
  for (std::uint64_t holder = 0; !atomic(page_.recording).compare_exchange_strong(holder, me_);) {
    // If the process that is making a record has ended, either the page does not contain the record, or it contains the
    // record and the process's name. Both states are valid, so this process continues.
    if (holder == 0 || ended_(holder)) continue;
    if (std::chrono::steady_clock::now() >= end)
      throw error(code::wait_timeout, fmt::format("process {} has been recording this event for {} s: is it stopped?",
                                                  pid_in(holder), longest_recording.count()));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    holder = 0;
  }
}

std::uint64_t event_records::claim_next() {
  for (;;) {
    const std::uint64_t next = count() + 1;
    if (next > record_page::most_under_way)
      await_word(
          &page_.slot_of(next).reached, next - record_page::most_under_way,
          [this, next, alarm = wait_alarm()]() mutable {
            release_lost();
            const std::uint64_t oldest = next - record_page::most_under_way;
            if (reached(oldest)) return;
            alarm.look([&](const std::string& lasted) {
              return fmt::format(
                  "a record of an interprocess event has waited for {} for record {}, which the stream of process {} "
                  "has not reached. The wait goes on until the stream reaches the record or that process ends",
                  lasted, oldest, pid_in(atomic(page_.slot_of(oldest).recorder)));
            });
          });
    become_recorder();
    const std::uint64_t now = count() + 1;
    if (now <= record_page::most_under_way || reached(now - record_page::most_under_way)) return now;
    atomic(page_.recording) = 0;
  }
}

std::uint64_t event_records::record(void* stream, const std::function<void()>& beside) {
  const std::lock_guard lock(recording_);
  const std::uint64_t number = claim_next();
  record_page::slot& slot = page_.slot_of(number);
  try {
    if (atomic(page_.any_lost) == 0) beside();
    atomic(slot.recorder) = me_;
    // After this store, streams may wait for the number. Only a write of the slot's word ends these waits.
    atomic(page_.records) = number;
    words_->write(stream, &slot.reached, number, nullptr);
  } catch (...) {
    if (count() == number) atomic(slot.reached) = number;
    atomic(page_.recording) = 0;
    throw;
  }
  atomic(page_.recording) = 0;
  return number;
}

void event_records::wait(void* stream) {
  const std::uint64_t last = count();
  awaited_ = last;
  words_->wait(stream, &page_.slot_of(last).reached, last, [] {});
}

std::uint64_t event_records::oldest_under_way(std::uint64_t last) {
  return last - std::min(last, record_page::most_under_way) + 1;
}

std::optional<pid_t> event_records::release_lost() {
  std::optional<pid_t> found;
  std::uint64_t running = me_;
  const std::uint64_t last = count();
  for (std::uint64_t n = oldest_under_way(last); n <= last; ++n) {
    record_page::slot& slot = page_.slot_of(n);
    std::uint64_t seen = atomic(slot.reached);
    if (seen == record_page::lost_at(n))
      note_loss(slot, n);  // the process that ended the wait has perhaps ended before its call of note_loss()
    if (seen >= n) continue;
    const std::uint64_t recorder = atomic(slot.recorder);
    if (recorder == running) continue;
    const std::optional<pid_t> lost = ended_(recorder);
    if (!lost) {
      running = recorder;
      continue;
    }
    // The exchange fails if the stream has reached the record meanwhile, or if another process has marked the record as
    // lost.
    if (!atomic(slot.reached).compare_exchange_strong(seen, record_page::lost_at(n))) continue;
    note_loss(slot, n);
    found = lost;
  }
  return found;
}

void event_records::note_loss(record_page::slot& slot, std::uint64_t number) {
  atomic(slot.lost) = number;
  atomic(page_.any_lost) = 1;
}

std::optional<event_records::awaited_record> event_records::awaited() const {
  const std::uint64_t number = awaited_;
  if (number == 0 || reached(number)) return std::nullopt;
  return awaited_record{number, pid_in(atomic(page_.slot_of(number).recorder))};
}

std::optional<pid_t> event_records::lost_wait() const {
  const std::uint64_t number = awaited_;
  record_page::slot& slot = page_.slot_of(number);
  if (number == 0 || (atomic(slot.lost) != number && atomic(slot.reached) != record_page::lost_at(number)))
    return std::nullopt;
  return pid_in(atomic(slot.recorder));
}

}  // namespace pgas::detail
