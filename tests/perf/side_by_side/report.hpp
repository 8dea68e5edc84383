/// @file
/// What a row is, which rows are wanted, and how a row's figure is printed: for programs of every library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace side_by_side {

/// What the command line says.
struct options {
  std::string only;              ///< a regular expression that a row's name contains; all if empty
  int first = 0;                 ///< rows before this one are left out: where a program goes on that has been killed
  int iterations = 0;            ///< of each run; 0: chosen by the time that they take
  int repetitions = 5;           ///< runs of each row
  int collective_threads = 512;  ///< of a block that calls a collective; 512 at most
  double milliseconds = 6;       ///< of a run, where iterations are chosen
  int seconds = 15;              ///< that a row may take
  bool quick = false;            ///< few and short runs: only to see that all works
  bool share = false;            ///< PEs may share GPUs
};
options read_options(int argc, char** argv);

/// A line of the table. Bytes are those of the whole, a collective's as the largest of its arrays.
struct row {
  const char* name;
  std::size_t bytes = 0;
  int blocks = 0;  ///< 0: called by the host
  int threads = 0;
  const char* unit = "us";  ///< us or ms of an iteration, GB/s, MiB
  int least = 500;          ///< iterations of a run, unless they take too long
};

/// How a row is measured; all of it on every PE.
struct work {
  /// Before each run: nothing of an earlier run is left where the check looks.
  std::function<void()> prepare;
  /// A run: seconds on this PE, 0 where it has nothing to say.
  std::function<double(int iterations)> run;
  /// After the last run: how much is wrong on this PE.
  std::function<std::uint64_t(int iterations)> wrong;
};

/// What PEs have to agree on, by whatever the library has.
class together {
 public:
  virtual ~together() = default;
  virtual int me() const = 0;
  virtual double largest(double mine) = 0;
  virtual std::uint64_t total(std::uint64_t mine) = 0;
  virtual void meet() = 0;
};

/// Goes through the rows: measures what is wanted, PE 0 prints each as a line of JSON. A row that takes too long ends
/// the process.
class report {
 public:
  report(const options& asked, together& pes);

  /// Runs the row and prints it.
  void measure(const row& of, const work& how);
  /// The same for what is not a loop: `values` are its runs, in the row's unit, and it counts what was wrong on this
  /// PE.
  void add(const row& of, const std::function<std::vector<double>(std::uint64_t& wrong)>& values);
  /// Whether anything was wrong so far.
  bool failed() const { return failed_; }
  const options& asked() const { return options_; }

 private:
  bool begin(const row& of);
  void print(const row& of, std::vector<double> values, int iterations, std::uint64_t wrong);

  options options_;
  together& pes_;
  int index_ = 0;
  bool failed_ = false;
};

}  // namespace side_by_side
