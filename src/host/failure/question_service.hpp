/// @file
/// The questions of pgas-why and of pgas-info. Each PE has a UNIX socket. A program of the same user sends a word over
/// the socket, and receives a line from every PE of the world. For `metrics` it receives a line from this PE only.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/unix_socket.hpp"
#include "host/failure/long_wait_warning.hpp"
#include "host/log/logger.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

class event_loop;
class exchange_service;
struct peer_table;
class signal_bell;
class tree_links;

/// The prefix of the socket names. The job (16 digits) and the number of the PE follow, separated by "-".
inline constexpr std::string_view question_socket_prefix = "pgas-why-";

/// The time from a question to the answer. Kernels check for a question about every millisecond.
inline constexpr std::chrono::milliseconds time_to_answer{15};

/// The longest time from a question to the answer, if not all waiting kernels have answered. On the host heap, the
/// threads of a kernel sometimes wait for a processor.
inline constexpr std::chrono::milliseconds most_time_to_answer{400};

/// The shortest time between two questions of the same kind that a PE sends. If several programs ask earlier, they have
/// to wait, and all of them get the same answers. So the cost for the PEs does not depend on the number of programs.
inline constexpr std::chrono::milliseconds between_questions{50};

/// A question, and the word that a program sends for it.
enum class question : std::uint64_t { waits, stats, metrics };
inline constexpr std::string_view question_words[] = {"waits", "stats", "metrics"};

/// The functions by which a PE reports its state.
struct wait_source {
  std::function<void()> ask;            ///< opens a question; until it is closed, waits write their answers
  std::function<bool()> settled;        ///< whether the answers so far are enough to report the waits of the PE
  std::function<std::string()> answer;  ///< closes the question; returns its answers as the fields of a JSON object
  /// The waits in the last answer that had lasted for this time or longer, the most informative one first.
  std::function<std::vector<long_wait>(std::chrono::milliseconds)> overdue;
  std::function<std::string()> stats;    ///< the statistics, as fields of a JSON object
  std::function<std::string()> metrics;  ///< the statistics by peer and call, as fields of a JSON object
  /// Returns a sentence about each wait in the last answer.
  std::function<std::vector<std::string>()> sentences;
  /// A sentence about the root of this PE's waits. `introduction` describes all PEs, and `answers` are the answers of
  /// all PEs. Empty if the answers do not show the root.
  std::function<std::string(std::string_view introduction, const std::vector<std::string>& answers)> root;
};

/// *Callers* the reader of the control plane; for the constructor, the thread that joins.
class question_service {
 public:
  /// Opens the socket and listens. If the socket cannot be opened, the object logs this and answers only other PEs.
  /// @param bell SIGUSR1 as a descriptor; null if PGAS_SIGUSR1 is not set
  question_service(event_loop& loop, tree_links& links, const exchange_service& exchanges, signal_bell* bell,
                   const config& settings, std::uint64_t job, log::logger& log);
  ~question_service();
  question_service(const question_service&) = delete;
  question_service& operator=(const question_service&) = delete;

  /// Sets the functions that answer questions. Called as soon as this PE has a heap.
  void set_source(wait_source source) { source_ = std::move(source); }
  /// Watches the socket in the loop of the reader.
  void start();
  /// Handles the question `what` of PE `pe`. `number` is the question's number at that PE.
  void on_question(int pe, std::uint64_t number, question what) noexcept;
  /// Handles an answer of a PE to question `number` of this PE.
  void on_answer(std::uint64_t number, std::span<const std::byte> text) noexcept;
  /// Called when PE `pe` has ended. A killed PE has left its socket in a directory of this host; the function removes
  /// the socket.
  void on_end(int pe) noexcept;
  /// The time at which check() has work.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  void check() noexcept;

 private:
  struct asker {  ///< the origin of a question about this PE's waits
    int pe;       ///< a PE (this PE: all of its clients), `nobody` (the search for long waits) or `the_log` (SIGUSR1)
    std::uint64_t number;
  };
  struct client {
    unique_fd socket;
    clock::time_point until;
    int answers;                    ///< the number of answers that have not arrived
    std::uint64_t number;           ///< the number of the question to the PEs; 0: not asked yet
    std::optional<question> asked;  ///< set when the client has sent its word
  };

  static constexpr int nobody = -1;
  static constexpr int the_log = -2;

  void accept();
  void read_word(int fd);
  /// Asks all PEs if clients wait for the question and the interval has passed.
  void ask_all(question what);
  [[nodiscard]] clock::time_point next_time(question what) const {
    return last_asked_[static_cast<std::size_t>(what)] + between_questions;
  }
  void ask_here(asker who);
  void log_waits();
  void answer_here();
  void answer_to(asker who, const std::string& text);
  void send(client& to, std::string_view text) noexcept;
  /// Runs `step` and logs an exception.
  template <class Step>
  void attempt(Step&& step) noexcept;
  [[nodiscard]] std::string introduction() const;
  /// @param fields the fields of the answer; empty: this PE still joins
  [[nodiscard]] std::string own_answer(const std::string& fields) const;
  /// The name of a PE's socket.
  [[nodiscard]] std::string name_of(int pe) const;

  event_loop& loop_;
  tree_links& links_;
  const exchange_service& exchanges_;
  const peer_table& peers_;
  signal_bell* const bell_;
  log::logger& log_;
  std::optional<wait_source> source_;
  const std::string directory_;
  const std::uint64_t job_;
  std::optional<unix_listener> listener_;
  std::vector<client> clients_;
  std::vector<asker> askers_;
  std::optional<clock::time_point> due_;  ///< the time of this PE's answer
  clock::time_point last_due_{};          ///< the latest time of the answer, even if waits have not answered
  long_wait_warning warning_;
  std::uint64_t questions_ = 0;
  std::array<clock::time_point, std::size(question_words)>
      last_asked_{};      ///< for each kind of question, the time of the last question
  bool refused_ = false;  ///< whether a program was refused, which is logged once
  bool full_ = false;     ///< whether no descriptor was free, which is logged once
};

}  // namespace pgas::detail
