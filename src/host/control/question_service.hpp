/// @file
/// The questions of pgas-why and of pgas-info: each PE has a UNIX socket, over which a program of the same user sends a
/// word, and gets a line from every PE of the world; for `metrics` from this PE alone.
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
#include <vector>

#include "common/deadline.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::detail {

struct control_plane_state;

/// What names of these sockets begin with. The job, 16 digits, and the number of the PE follow, with - between.
inline constexpr std::string_view question_socket_prefix = "pgas-why-";

/// Between question and answer: kernels look for a question every millisecond or so.
inline constexpr std::chrono::milliseconds time_to_answer{15};

/// The same where a call lasts whose kernels have not answered: threads of the host heap may wait for a processor.
inline constexpr std::chrono::milliseconds most_time_to_answer{400};

/// From one question of a PE to its next of that kind: who asks sooner waits, and gets the same answers as all who
/// wait. So PEs have as little to do for many who ask as for one.
inline constexpr std::chrono::milliseconds between_questions{50};

/// A question, and the word that a program sends for it.
enum class question : std::uint64_t { waits, stats, metrics };
inline constexpr std::string_view question_words[] = {"waits", "stats", "metrics"};

/// A wait that has lasted for some time, in words.
struct long_wait {
  std::chrono::milliseconds lasted;
  std::string sentence;
};

/// Where a PE keeps what it knows of itself.
struct wait_source {
  std::function<void()> ask;            ///< from now on, waits leave answers
  std::function<bool()> settled;        ///< whether the answers that are there tell what the PE waits for
  std::function<std::string()> answer;  ///< what they were, as the fields of a JSON object; no question is open then
  /// The waits in the last answer that had lasted so long, or longer, the most telling first.
  std::function<std::vector<long_wait>(std::chrono::milliseconds)> overdue;
  std::function<std::string()> stats;    ///< what it has counted, as fields of a JSON object
  std::function<std::string()> metrics;  ///< the same by peer and call
  /// A sentence on each wait in the last answer.
  std::function<std::vector<std::string>()> sentences;
  /// A sentence on the PE that this one waits for in the end, from what a PE says of all of them and from the answers
  /// of all; empty where they do not tell.
  std::function<std::string(std::string_view introduction, const std::vector<std::string>& answers)> root;
};

/// *Callers* the reader of the control plane; the constructor: the thread that joins.
class question_service {
 public:
  /// Listens. Without a socket, where there can be none, it answers other PEs only; that is logged.
  question_service(control_plane_state& plane, const std::string& directory, std::uint64_t job);
  ~question_service();
  question_service(const question_service&) = delete;
  question_service& operator=(const question_service&) = delete;

  /// Watches the socket in the loop of the reader.
  void start();
  /// PE `pe` asks `what`, with a number of its own.
  void on_question(int pe, std::uint64_t number, question what) noexcept;
  /// A PE has answered question `number` of this PE.
  void on_answer(std::uint64_t number, std::span<const std::byte> text) noexcept;
  /// PE `pe` has ended. If it was killed, its socket in a directory of this host is still there, and goes now.
  void on_end(int pe) noexcept;
  /// When check() has something to do next.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  void check() noexcept;

 private:
  struct asker {  ///< of what this PE waits for
    int pe;       ///< this one: all clients; nobody: to see whether a wait lasts long; the log: by SIGUSR1
    std::uint64_t number;
  };
  struct client {
    unique_fd socket;
    clock::time_point until;
    int answers;                    ///< still to come
    std::uint64_t number;           ///< of the question that the PEs were asked; 0: they were not yet
    std::optional<question> asked;  ///< it has sent its word
  };

  /// A warning that waits for the answers of all PEs.
  struct warning {
    std::string waits;  ///< the sentence
    std::string limit;  ///< and that on what ends them
    clock::time_point until;
    std::uint64_t number = 0;  ///< of the question; 0: the PEs were not asked yet
    std::vector<std::string> answers;
  };

  static constexpr int nobody = -1;
  static constexpr int the_log = -2;

  void accept();
  void read_word(int fd);
  /// Asks all PEs for the clients that wait for it, where it is time.
  void ask_all(question what);
  [[nodiscard]] clock::time_point next_time(question what) const {
    return last_asked_[static_cast<std::size_t>(what)] + between_questions;
  }
  void ask_here(asker who);
  /// Finds the waits that have lasted for long and were not warned of, and asks all PEs about them.
  void find_long_waits();
  /// Warns of them, with what the PEs have answered.
  void warn();
  [[nodiscard]] std::chrono::milliseconds time_between_looks() const;
  void log_waits();
  void answer_here();
  void answer_to(asker who, const std::string& text);
  void send(client& to, std::string_view text) noexcept;
  /// Does `step`. An exception is logged.
  template <class Step>
  void attempt(Step&& step) noexcept;
  [[nodiscard]] std::string introduction() const;
  /// @param fields empty: this PE still joins
  [[nodiscard]] std::string own_answer(const std::string& fields) const;
  /// Of the socket of a PE.
  [[nodiscard]] std::string name_of(int pe) const;

  control_plane_state& plane_;
  const std::string directory_;
  const std::uint64_t job_;
  std::optional<unix_listener> listener_;
  std::vector<client> clients_;
  std::vector<asker> askers_;
  std::optional<clock::time_point> due_;  ///< for this PE's answer
  clock::time_point last_due_{};          ///< when it answers, whether its own answers are settled or not
  std::optional<warning> warning_;
  /// Begins of the waits that were warned of.
  std::vector<clock::time_point> warned_;
  std::uint64_t questions_ = 0;
  std::array<clock::time_point, std::size(question_words)> last_asked_{};  ///< all PEs, by question
  bool refused_ = false;                                                   ///< somebody; said once
  bool full_ = false;                                                      ///< no descriptor was left; said once
  clock::time_point next_look_;                                            ///< for long waits
};

}  // namespace pgas::detail
