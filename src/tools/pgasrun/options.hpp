/// @file
/// The command line of pgasrun, by which oshrun is called as well.
#pragma once

#include <string>
#include <vector>

#include "src/tools/pgasrun/job.hpp"

namespace pgas::boot {

/// What the command line asks for: a job, or to end at once because all has been said.
struct command_line {
  job_options job;
  std::vector<std::string> variables;  ///< of -x: NAME=VALUE, or NAME alone
  std::optional<int> status;           ///< with which to end at once
};

/// Reads it. Help, the version and what is wrong with it are printed.
[[nodiscard]] command_line read_command_line(int argc, char** argv);

}  // namespace pgas::boot
