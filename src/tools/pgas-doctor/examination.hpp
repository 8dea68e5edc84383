/// @file
/// A run of the doctor, which uses two processes. The worker executes all steps that can fail: it joins, maps memory
/// and loads libraries. The supervisor, its parent process, only waits and prints. So a worker that hangs or dies
/// becomes a row of the table.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "tools/pgas-doctor/journal.hpp"

namespace pgas::doctor {

/// The options of the command line.
struct request {
  bool quick = false;
  bool verbose = false;
  std::optional<std::string> json{};  ///< the name of a file; "-": standard output, in place of the table
};

/// The limit of a step that has no limit of its own.
inline constexpr std::chrono::milliseconds step_limit{60'000};

/// Runs `work` in a child process and prints its messages. Returns the exit status: 0 if no row fails, else 1; 128 plus
/// the signal if a signal ended the child. PEs other than 0 print only if they cannot send their rows to PE 0.
[[nodiscard]] int examine(const request& how, const std::function<void(journal&)>& work);

/// The worker: examines its own process, joins through the launcher, queries the other PEs, joins a world with them,
/// and tests the world. *Errors* pgas::error and those of the standard library, for failures without a row; examine()
/// turns these errors into a row.
void run_examination(const request& how, journal& out);

}  // namespace pgas::doctor
