/// @file
/// One run of the doctor in two processes. The worker does everything that may go wrong: it joins, maps, loads
/// libraries. The supervisor, its parent, only waits and prints, so that a worker that hangs or dies becomes
/// a row of the table.
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
  std::optional<std::string> json{};  ///< a file; "-": standard output, instead of the table
};

/// The subject of the table.
struct subject {
  int pe = -1;    ///< -1 until the process knows it
  int n_pes = 0;  ///< 0 until it has joined the launcher
  int hosts = 0;
  std::string started{};  ///< how the PEs found one another
  std::vector<pair_route> pairs{};
};

/// The worker's way to tell the supervisor.
class journal {
 public:
  explicit journal(detail::unique_fd to) : to_(std::move(to)) {}

  /// A step begins, and must not take longer than `limit`: else the supervisor ends this process.
  void begin(const std::string& step, std::chrono::milliseconds limit);
  /// A row that this PE found by itself.
  void add(const row& found);
  void about(const subject& what);
  /// Ends the examination. `rows`, of the whole job, replace those that were added; PE 0 prints them. @param alone PE 0
  /// could not be told: this PE prints those that fail
  void end(const std::vector<row>& rows, bool alone = false);

  /// The rows that this process has added.
  [[nodiscard]] const std::vector<row>& rows() const noexcept { return rows_; }

 private:
  void tell(const nlohmann::json& message);

  detail::unique_fd to_;
  std::vector<row> rows_;
};

/// Runs `work` in a child, and prints what it tells. The exit status: 0 where no row fails, else 1; 128 and the signal
/// where one ended it. PEs other than 0 print only where they can't tell PE 0.
[[nodiscard]] int examine(const request& how, const std::function<void(journal&)>& work);

/// The worker: examines its own process, joins the launcher, queries the other PEs, joins a world with them,
/// tries it. *Errors* pgas::error and those of the standard library for what no row stands for; examine() makes a row
/// of them.
void run_examination(const request& how, journal& out);

/// Runs `call` in a child, and returns what it returns. A reason where it does not end within `limit`, or a signal
/// ends it: libraries do that to a process that they can't serve.
inline constexpr const char* did_not_end = "it did not end within";
struct trial {
  std::optional<std::string> result{};
  std::string failure{};
};
[[nodiscard]] trial try_in_child(std::chrono::milliseconds limit, const std::function<std::string()>& call);

}  // namespace pgas::doctor
