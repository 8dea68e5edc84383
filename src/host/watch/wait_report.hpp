/// @file
/// What this PE waits for, as its kernels and its calls say when they are asked: the source of pgas-why.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/control/question_service.hpp"
#include "host/heap/allocation_list.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/watch/call_list.hpp"
#include "host/watch/stream_log.hpp"
#include "host/watch/team_list.hpp"
#include "pgas/detail/failure_record.hpp"

namespace pgas::detail {

/// The answer of a thread of a kernel.
struct kernel_wait : failure_record {
  std::optional<team_list::place> in_team;  ///< of a collective
  bool of_stream = false;                   ///< the host has enqueued the kernel on a stream
  std::vector<stream_log::write> behind;    ///< writes that are behind this wait on its stream
};

/// Two groups of threads in collectives of one channel of a team at the same time, by a thread of each.
struct crowded_channel {
  control_group::identity team;
  std::int32_t channel;
  std::pair<std::uint32_t, std::uint32_t> first;  ///< block and thread
  std::pair<std::uint32_t, std::uint32_t> second;
};

/// What is known of the waits of a PE at some time.
struct pe_waits {
  std::vector<kernel_wait> kernels;
  std::optional<crowded_channel> crowd;
  bool more = false;                      ///< there was no room for all
  std::vector<awaited_command> commands;  ///< for whose answers kernels or calls wait
  std::vector<call_list::call> calls;
  std::uint64_t short_calls = 0;  ///< since the question
  std::chrono::milliseconds idle{};
};

/// The operation that a record is of.
[[nodiscard]] const char* what_of(const failure_record& wait);

/// *Callers* any thread. Each ask() is followed by one collect() or answer() of the same thread.
class wait_report {
 public:
  /// The allocation around an offset in the heap.
  using locator = std::function<std::optional<allocation>(std::uint64_t offset)>;

  /// All arguments live until end() returns. @param control of this PE, by its host address @param proxy where there is
  /// one
  wait_report(control_block& control, const call_list& calls, const team_list& teams, const stream_log& streams,
              proxy_thread* proxy = nullptr, locator locate = {})
      : control_(&control),
        calls_(&calls),
        teams_(teams),
        streams_(streams),
        proxy_(proxy),
        locate_(std::move(locate)) {}

  /// Waits of kernels leave answers from now on.
  void ask();
  /// Whether the answers tell what this PE waits for. They do not while a call that began before the question lasts,
  /// names no word, and no kernel has answered: the threads of that kernel may have had no processor since.
  [[nodiscard]] bool settled() const;
  /// What they were, and host calls; nothing once this has ended. Without another question none answers any more.
  [[nodiscard]] pe_waits collect();
  /// Both, and the time between them: time_to_answer, or until the answers are settled.
  [[nodiscard]] pe_waits ask_and_collect();
  /// What collect() returns as fields of a JSON object; docs/debugging.md has their names.
  [[nodiscard]] std::string answer();
  /// The waits in the last answer() that had lasted for `limit` or longer, the most telling first: those of kernels,
  /// the proxy's, calls. A call that only waits for its kernel is left out
  /// if that kernel computes.
  [[nodiscard]] std::vector<long_wait> overdue(std::chrono::milliseconds limit) const;
  /// A sentence on each wait in the last answer().
  [[nodiscard]] std::vector<std::string> sentences() const;
  /// Nothing is read any more: neither waits nor calls are there.
  void end();

 private:
  /// Where an offset is, as a field of a JSON object or in words; empty where no allocation is known there.
  [[nodiscard]] std::string field_of_place(std::uint64_t offset) const;
  [[nodiscard]] std::string words_of_place(std::uint64_t offset) const;
  [[nodiscard]] kernel_wait wait_of(const failure_record& answer) const;
  [[nodiscard]] static std::optional<crowded_channel> crowd_in(const std::vector<kernel_wait>& waits,
                                                               std::chrono::milliseconds since_question);
  /// The teams that the last waits name, as the entries of a JSON array.
  [[nodiscard]] std::string teams_of_waits() const;
  [[nodiscard]] std::string text_of(const kernel_wait& wait) const;
  [[nodiscard]] std::string text_of(const awaited_command& one) const;
  [[nodiscard]] std::string text_of(const call_list::call& call) const;
  [[nodiscard]] std::string text_of_word(std::uint64_t offset, std::int32_t compare, std::uint64_t expected,
                                         std::uint64_t seen) const;
  [[nodiscard]] std::string sentence_of(const kernel_wait& wait) const;
  [[nodiscard]] std::string sentence_of(const awaited_command& one) const;
  [[nodiscard]] std::string sentence_of(const call_list::call& call) const;
  template <class List>
  [[nodiscard]] std::string joined(const List& list) const;

  mutable std::mutex mutex_;
  control_block* control_;  ///< null: ended
  const call_list* calls_;
  const team_list& teams_;
  const stream_log& streams_;
  proxy_thread* proxy_;
  const locator locate_;
  std::uint32_t questions_ = 0;
  std::chrono::steady_clock::time_point asked_at_{};
  int open_ = 0;                   ///< questions without an answer: they share a number
  pe_waits last_{};                ///< that answer() has told
  std::uint64_t short_calls_ = 0;  ///< when the question was asked
};

}  // namespace pgas::detail
