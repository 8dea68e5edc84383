/// @file
/// The waits of this PE, which its kernels and host calls report on request. pgas-why prints them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/failure/question_service.hpp"
#include "host/heap/allocation_list.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/watch/calls_in_progress.hpp"
#include "host/watch/stream_log.hpp"
#include "host/watch/team_list.hpp"
#include "pgas/detail/failure_record.hpp"

namespace pgas::detail {

/// The answer of a thread of a kernel.
struct kernel_wait : failure_record {
  std::optional<team_list::place> in_team;  ///< set for a wait in a collective
  bool of_stream = false;                   ///< the host has enqueued the kernel on a stream
  std::vector<stream_log::write> behind;    ///< the writes that follow this wait on the same stream
};

/// A usage error: two groups of threads are in collectives on the same channel of a team at the same time. One thread
/// of each group is named.
struct crowded_channel {
  control_group::identity team;
  std::int32_t channel;
  std::pair<std::uint32_t, std::uint32_t> first;  ///< block and thread
  std::pair<std::uint32_t, std::uint32_t> second;
};

/// The waits of a PE at one time.
struct pe_waits {
  std::vector<kernel_wait> kernels;
  std::optional<crowded_channel> crowd;
  bool more = false;                      ///< whether the PE has further waits, which did not fit
  std::vector<awaited_command> commands;  ///< commands for whose answers kernels or calls wait
  std::vector<calls_in_progress::call> calls;
  std::uint64_t short_calls = 0;  ///< short calls since the question
  std::chrono::milliseconds idle{};
};

/// The name of the operation of a record.
[[nodiscard]] const char* operation_name(const failure_record& wait);

/// *Callers* any thread. Each ask() is followed by one collect() or answer() of the same thread.
class wait_report {
 public:
  /// Finds the allocation that contains an offset of the heap.
  using locator = std::function<std::optional<allocation>(std::uint64_t offset)>;

  /// All arguments must exist until end() returns.
  /// @param control the control block of this PE, by its host address
  /// @param proxy the proxy; null if all PEs are direct peers
  wait_report(control_block& control, const calls_in_progress& calls, const team_list& teams, const stream_log& streams,
              proxy_thread* proxy = nullptr, locator locate = {})
      : control_(&control),
        calls_(&calls),
        teams_(teams),
        streams_(streams),
        proxy_(proxy),
        locate_(std::move(locate)) {}

  /// Asks the kernels. After this call, waits of kernels write answers.
  void ask();
  /// Whether the answers are complete. The answers are incomplete if a call that names no word began before the
  /// question, and no kernel has answered. The threads of the call's kernel have perhaps not run since the question.
  [[nodiscard]] bool settled() const;
  /// The waits of the kernels, and the host calls. Empty after end(). Kernels answer again only after another question.
  [[nodiscard]] pe_waits collect();
  /// Calls ask() and collect(). Between the two calls, waits until the answers are complete: at least time_to_answer,
  /// at most most_time_to_answer.
  [[nodiscard]] pe_waits ask_and_collect();
  /// The result of collect() as fields of a JSON object. docs/debugging.md lists the names.
  [[nodiscard]] std::string answer();
  /// The waits of the last answer() with a duration of `limit` or more, the most informative first: waits of kernels,
  /// then of the proxy, then of calls. A call that only waits for its kernel is left out if the kernel computes.
  [[nodiscard]] std::vector<long_wait> overdue(std::chrono::milliseconds limit) const;
  /// A sentence about each wait in the last answer().
  [[nodiscard]] std::vector<std::string> sentences() const;
  /// Called before the waits and calls are destroyed. After this call the object does not access the waits and calls.
  void end();

 private:
  /// The allocation at an offset, as a field of a JSON object or in words. Empty if no allocation is known there.
  [[nodiscard]] std::string field_of_place(std::uint64_t offset) const;
  [[nodiscard]] std::string words_of_place(std::uint64_t offset) const;
  [[nodiscard]] kernel_wait wait_of(const failure_record& answer) const;
  [[nodiscard]] static std::optional<crowded_channel> crowd_in(const std::vector<kernel_wait>& waits,
                                                               std::chrono::milliseconds since_question);
  /// The teams of the last waits, as the entries of a JSON array.
  [[nodiscard]] std::string teams_of_waits() const;
  [[nodiscard]] std::string text_of(const kernel_wait& wait) const;
  [[nodiscard]] std::string text_of(const awaited_command& command) const;
  [[nodiscard]] std::string text_of(const calls_in_progress::call& call) const;
  [[nodiscard]] std::string text_of_word(std::uint64_t offset, std::int32_t compare, std::uint64_t expected,
                                         std::uint64_t seen) const;
  [[nodiscard]] std::string sentence_of(const kernel_wait& wait) const;
  [[nodiscard]] std::string sentence_of(const awaited_command& command) const;
  [[nodiscard]] std::string sentence_of(const calls_in_progress::call& call) const;
  template <class List>
  [[nodiscard]] std::string joined(const List& list) const;

  mutable std::mutex mutex_;
  control_block* control_;  ///< null after end()
  const calls_in_progress* calls_;
  const team_list& teams_;
  const stream_log& streams_;
  proxy_thread* proxy_;
  const locator locate_;
  std::uint32_t questions_ = 0;
  std::chrono::steady_clock::time_point asked_at_{};
  int open_ = 0;                   ///< the number of unanswered questions; they share one question number
  pe_waits last_{};                ///< the waits in the last answer()
  std::uint64_t short_calls_ = 0;  ///< the count at the time of the question
};

}  // namespace pgas::detail
