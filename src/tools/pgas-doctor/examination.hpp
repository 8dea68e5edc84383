/// @file
/// A run of the doctor, which uses two processes. The worker executes all steps that may fail: it joins, maps memory
/// and loads libraries. The supervisor, its parent process, only waits and prints. So a worker that hangs or dies
/// becomes a row of the table.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The options of the command line.
struct request {
  bool quick = false;
  bool verbose = false;
  std::optional<std::string> json{};  ///< the name of a file; "-": standard output, in place of the table
};

/// The job that the table describes, and this process's PE number in the job.
struct subject {
  int pe = -1;    ///< -1 until the process knows its PE number
  int n_pes = 0;  ///< 0 until the process has joined through the launcher
  int hosts = 0;
  std::string started{};  ///< the bootstrap by which the PEs have joined
  std::vector<pair_route> pairs{};
};

/// The limit of a step that has no limit of its own.
inline constexpr std::chrono::milliseconds step_limit{60'000};

/// Sends messages from the worker to the supervisor.
class journal {
 public:
  explicit journal(detail::unique_fd to) : to_(std::move(to)) {}

  /// Begins a step. If the step takes longer than `limit`, the supervisor kills this process.
  void begin(const std::string& step, std::chrono::milliseconds limit);
  /// Adds a row that this PE found without other PEs.
  void add(const row& found);
  void about(const subject& what);
  /// Ends the examination. `rows`, the rows of the whole job, replace the rows that were added. PE 0 prints the rows.
  /// @param alone true if the rows could not be sent to PE 0, so that this PE prints the rows that fail
  void end(const std::vector<row>& rows, bool alone = false);

  /// The rows that this process has added.
  [[nodiscard]] const std::vector<row>& rows() const noexcept { return rows_; }

 private:
  void tell(const nlohmann::json& message);

  detail::unique_fd to_;
  std::vector<row> rows_;
};

/// Runs `work` in a child process and prints its messages. Returns the exit status: 0 if no row fails, else 1; 128 plus
/// the signal if a signal ended the child. PEs other than 0 print only if they cannot send their rows to PE 0.
[[nodiscard]] int examine(const request& how, const std::function<void(journal&)>& work);

/// The worker: examines its own process, joins through the launcher, queries the other PEs, joins a world with them,
/// and tests the world. *Errors* pgas::error and those of the standard library, for failures without a row; examine()
/// turns these errors into a row.
void run_examination(const request& how, journal& out);

/// Runs `call` in a child process and returns its result. Returns a reason if the call does not end within `limit`, or
/// if a signal ends it: some libraries end a process that they cannot serve.
inline constexpr const char* did_not_end = "it did not end within";
struct trial {
  std::optional<std::string> result{};
  std::string failure{};
};
[[nodiscard]] trial try_in_child(std::chrono::milliseconds limit, const std::function<std::string()>& call);

}  // namespace pgas::doctor
