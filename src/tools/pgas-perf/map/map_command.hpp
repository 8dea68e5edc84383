/// @file
/// The command `pgas-perf map`, which measures the map of a world.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pgas::perf {

struct map_options {
  std::vector<std::string> measures = {"bandwidth", "latency", "atomics"};
  std::vector<std::string> patterns = {"alone", "shift", "incast", "all"};
  std::size_t bytes = 0;      ///< the size of a put in the maps of bandwidth; 0: 4 MiB on the host heap, 16 MiB on GPUs
  double milliseconds = 5;    ///< the duration of a run
  std::uint32_t repeats = 3;  ///< the number of runs, whose median is used
  bool quick = false;
  double limit_seconds = 300;
  double tolerance_percent = 10;
  std::string save;  ///< a file; "-": standard output, in place of the tables
  std::string compare;
  std::size_t width = 0;  ///< the width of the output in columns; 0: as wide as the terminal
  std::string colour = "auto";
  bool matrices = false;
};

/// The exit statuses of `pgas-perf map`, besides 0 and the status of a wrong command line.
inline constexpr int status_of_failure = 1;
inline constexpr int status_of_slower_pair = 3;
inline constexpr int status_of_interrupt = 130;

/// Adds the subcommand to the program's command line.
CLI::App* add_map_command(CLI::App& program, map_options& into);

/// Joins, measures and prints. Returns the exit status, the same on all PEs. *Errors* pgas::error.
[[nodiscard]] int run_map(const map_options& how);

}  // namespace pgas::perf
