/// @file
/// `pgas-perf map`: the map of a world.
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
  std::size_t bytes = 0;      ///< of a put of the bandwidths; 0: 4 MiB on the host heap, 16 MiB on GPUs
  double milliseconds = 5;    ///< of a run
  std::uint32_t repeats = 3;  ///< runs, of which the median is taken
  bool quick = false;
  double limit_seconds = 300;
  double tolerance_percent = 10;
  std::string save;  ///< file; "-": standard output, instead of the tables
  std::string compare;
  std::size_t width = 0;  ///< columns; 0: the terminal's
  std::string colour = "auto";
  bool matrices = false;
};

/// The exit statuses of `pgas-perf map`, besides 0 and that of wrong command lines.
inline constexpr int status_of_failure = 1;
inline constexpr int status_of_slower_pair = 3;
inline constexpr int status_of_interrupt = 130;

/// Adds the command to the program's.
CLI::App* add_map_command(CLI::App& program, map_options& into);

/// Joins, measures and prints. Returns the exit status, the same on all PEs. *Errors* pgas::error.
[[nodiscard]] int run_map(const map_options& how);

}  // namespace pgas::perf
