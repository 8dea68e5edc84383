/// @file
/// The processes that pgasrun starts, from start to end.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "src/tools/pgasrun/output_writer.hpp"
#include "src/tools/pgasrun/pe_process.hpp"
#include "src/tools/pgasrun/world_hubs.hpp"

namespace pgas::boot {

struct job_options {
  int processes = 0;
  std::optional<milliseconds> timeout;  ///< the limit for the whole job
  milliseconds grace_period{5000};      ///< the time in which the other PEs can end by themselves after a failure
  bool tag_output = false;
  std::vector<std::string> command;
};

class job {
 public:
  explicit job(job_options options);
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// Runs the job and returns its exit status. If a PE fails, this is the status of the first PE that failed, or 128
  /// plus the signal that killed this PE. If the time limit is reached, the status is 124.
  [[nodiscard]] int run();

 private:
  /// The stage of the job's end. Each stage is entered some time after the previous one.
  enum class stage { running, grace_period, terminating, killing };

  void start_all();
  void pass_on(pe_process& from);
  void listen_to(std::list<tagged_stream>::iterator position);
  void listen_to_all();
  void say(std::string_view line);
  void handle_signals();
  void look_for_ended();
  void announce(pe_process& process);
  void begin_ending(stage first, milliseconds next_after);
  void advance();
  void signal_all(int number);
  void clean_up();
  /// Prints the remaining output of ended processes.
  void pass_on_the_rest();
  [[nodiscard]] bool all_ended() const;
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;

  job_options options_;
  event_loop loop_;
  world_hubs hubs_;
  unique_fd signals_;
  output_writer output_;
  output_writer errors_;
  std::vector<pe_process> processes_;
  std::list<tagged_stream> streams_;
  stage stage_ = stage::running;
  std::optional<clock::time_point> next_stage_;
  std::optional<clock::time_point> time_is_up_;
  bool told_to_end_ = false;   // whether a signal or --timeout has ended the job
  std::optional<int> status_;  // the exit status of the first failure
};

}  // namespace pgas::boot
