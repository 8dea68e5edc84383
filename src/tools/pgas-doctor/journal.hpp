/// @file
/// The messages of the worker to the supervisor, one line of JSON each.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The job that the table describes, and this process's PE number in the job.
struct subject {
  int pe = -1;    ///< -1 until the process knows its PE number
  int n_pes = 0;  ///< 0 until the process has joined through the launcher
  int hosts = 0;
  std::string started{};  ///< the bootstrap by which the PEs have joined
  std::vector<pair_route> pairs{};
};

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

}  // namespace pgas::doctor
