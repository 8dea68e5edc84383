/// @file
/// Measures the transfers of a map with the kernels of pgas-perf's rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark_list.hpp"
#include "benchmark_world.hpp"
#include "map/traffic_steps.hpp"
#include "options.hpp"

namespace pgas::perf {

/// A measure of a pair, and the row whose kernel measures it.
struct map_measure {
  std::string_view name;
  std::string_view row;
  bool more_is_better = true;
  double from_row = 1;  ///< the factor from the row's figure to the map's figure
  /// Whether both PEs take part in the transfer, so that a PE cannot take part in two transfers at the same time.
  bool only_pairs = false;
  bool moves_data = false;  ///< whether the check compares words, and not the number of operations
};

/// The bandwidth of puts, the latency of signals, and the time of atomic operations with a result.
[[nodiscard]] const std::vector<map_measure>& map_measures();

struct step_figures {
  std::vector<double> by_pe;  ///< indexed by transferring PE; unmeasured for other PEs
  std::uint64_t wrong = 0;    ///< the number of wrong words over all PEs
};

/// *Callers* all PEs, for the same step.
class traffic_meter {
 public:
  /// @param how only options::milliseconds of a run, options::repeats and options::most_bytes are used
  /// @param rows the rows for this heap
  traffic_meter(benchmark_world& s, const options& how, std::vector<row> rows);

  /// Runs the transfers of a step at the same time, and repeats this run. Checks the data of the last run.
  [[nodiscard]] step_figures measure(const map_measure& what, const traffic_step& step);
  /// The GB/s out of each PE while all PEs put to all.
  [[nodiscard]] step_figures measure_all_pairs();
  [[nodiscard]] std::string_view unit_of(const map_measure& what) const;

 private:
  [[nodiscard]] const row& row_of(std::string_view name) const;
  [[nodiscard]] point point_of(const row& r, const map_measure* what) const;
  /// Returns the medians of several runs, indexed by PE. Only PEs for which `counts` is true have a median. `each` is
  /// this PE's work.
  [[nodiscard]] std::vector<double> run(const row& r, const point& at, job each, const std::vector<bool>& counts,
                                        std::uint32_t& rounds);
  [[nodiscard]] std::uint64_t data_wrong(const traffic_step& step, std::size_t slot_words) const;

  benchmark_world& s_;
  const options& how_;
  std::vector<row> rows_;
  job whole_;  ///< the buffers, with the same source data in all steps; the target is overwritten before each check
};

}  // namespace pgas::perf
