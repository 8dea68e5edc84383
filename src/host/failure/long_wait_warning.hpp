/// @file
/// The warning that a PE logs when a wait has lasted for PGAS_WAIT_WARNING or longer (one minute by default).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/deadline.hpp"
#include "host/log/logger.hpp"

namespace pgas::detail {

class exchange_service;

/// A wait that has lasted for some time, as a sentence.
struct long_wait {
  std::chrono::milliseconds lasted;
  std::string sentence;
};

/// Searches this PE's waits from time to time. If a long wait has no warning yet, asks all PEs about their waits, and
/// logs the warning. The warning names the root of the wait if the answers show the root. *Callers* the reader of the
/// control plane.
class long_wait_warning {
 public:
  /// @param setting PGAS_WAIT_WARNING; 0: no warnings
  long_wait_warning(const exchange_service& exchanges, std::chrono::milliseconds setting, log::logger& log)
      : exchanges_(exchanges), setting_(setting), log_(log) {}

  /// Sets the time of the first search of PE `pe` of `n`.
  void start(int pe, int n);
  /// Whether a search is due. If so, sets the time of the next search.
  [[nodiscard]] bool begin_search();
  /// Finds the long waits that have no warning yet. `overdue` returns the waits of calls and kernels that have lasted
  /// for a time or longer; null while the PE joins.
  void search(const std::function<std::vector<long_wait>(std::chrono::milliseconds)>& overdue);

  /// Whether the PEs must be asked about their waits for the warning.
  [[nodiscard]] bool needs_question() const noexcept { return pending_ && pending_->number == 0; }
  /// Called when question `number` was sent to all PEs. The warning waits for answers until `until`.
  void on_asked(std::uint64_t number, clock::time_point until) noexcept;
  /// Called when a PE has answered question `number`, even if the question is not for this warning.
  void on_answer(std::uint64_t number, std::string_view text);
  /// Whether a warning can be logged: all `n` PEs have answered, or the time for answers is over.
  [[nodiscard]] bool is_complete(int n) const;
  /// Logs the warning. `root` returns a sentence about the root of the wait, or nothing.
  void log_it(const std::function<std::string(const std::vector<std::string>& answers)>& root);
  /// The time of the next search, or the time at which the warning stops waiting for answers.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;

 private:
  /// A warning that waits for the answers of all PEs.
  struct warning {
    std::string waits;  ///< the sentence about the wait
    std::string limit;  ///< the sentence about the limit of the wait
    clock::time_point until;
    std::uint64_t number = 0;  ///< the number of the question; 0: not asked yet
    std::vector<std::string> answers;
  };

  [[nodiscard]] std::chrono::milliseconds time_between_searches() const;

  const exchange_service& exchanges_;
  const std::chrono::milliseconds setting_;
  log::logger& log_;
  clock::time_point next_search_;
  std::optional<warning> pending_;
  /// The start times of the waits that have got a warning.
  std::vector<clock::time_point> warned_;
};

}  // namespace pgas::detail
