/// @file
/// Describes the rows, selects the requested rows, and prints their figures. The programs of all libraries use this
/// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace side_by_side {

/// The options of the command line.
struct options {
  std::string only;              ///< a regular expression for the names of rows; empty: all rows
  int first = 0;                 ///< the first row to run; used to continue after a row that killed the program
  int iterations = 0;            ///< the iterations of each run; 0: chosen so that a run takes `milliseconds`
  int repetitions = 5;           ///< the number of runs of each row
  int collective_threads = 512;  ///< the threads of a block that calls a collective; at most 512
  double milliseconds = 6;       ///< the duration of a run if `iterations` is 0
  int seconds = 15;              ///< the time limit of a row
  bool quick = false;            ///< few and short runs, which only test that all rows work
  bool share = false;            ///< PEs may share GPUs
};
options read_options(int argc, char** argv);

/// A line of the table. `bytes` is the size of the whole operation; for a collective, the size of its largest array.
struct row {
  const char* name;
  std::size_t bytes = 0;
  int blocks = 0;  ///< 0: the host calls the operation
  int threads = 0;
  const char* unit = "us";  ///< us or ms per iteration, GB/s, or MiB
  int least = 500;          ///< the iterations of a run; a run has fewer iterations if this number takes too long
};

/// How a row is measured. All functions are called on every PE.
struct work {
  /// Called before each run, so that the check cannot read data of an earlier run.
  std::function<void()> prepare;
  /// Executes a run. Returns the seconds on this PE, or 0 if this PE measures nothing.
  std::function<double(int iterations)> run;
  /// Called after the last run. Returns the number of errors on this PE.
  std::function<std::uint64_t(int iterations)> wrong;
};

/// Combines values of all PEs, with the functions of the library.
class together {
 public:
  virtual ~together() = default;
  virtual int me() const = 0;
  virtual double largest(double mine) = 0;
  virtual std::uint64_t total(std::uint64_t mine) = 0;
  virtual void barrier() = 0;
};

/// Measures the requested rows. PE 0 prints each row as a line of JSON. A row that takes too long ends the process.
class report {
 public:
  report(const options& asked, together& pes);

  /// Runs the row and prints it.
  void measure(const row& kernel_row, const work& how);
  /// Adds a row that the caller measures. `values` returns the results of the runs in the row's unit, and counts the
  /// errors on this PE.
  void add(const row& kernel_row, const std::function<std::vector<double>(std::uint64_t& wrong)>& values);
  /// Whether a row had an error so far.
  bool failed() const { return failed_; }
  const options& asked() const { return options_; }

 private:
  bool begin(const row& kernel_row);
  void print(const row& kernel_row, std::vector<double> values, int iterations, std::uint64_t wrong);

  options options_;
  together& pes_;
  int index_ = 0;
  bool failed_ = false;
};

}  // namespace side_by_side
