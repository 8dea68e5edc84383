/// @file
/// Plots as SVG: a curve over the sizes for each row, and maps of bandwidth and latency between all pairs of PEs.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace pgas::perf {

/// One figure for each ordered pair of PEs; the diagonal is unused.
struct pair_map {
  std::string title;
  std::vector<std::vector<double>> figures;  ///< [from][to]
  bool more_is_better = true;
};

/// Bandwidth of large puts and latency of small ones between all pairs. *Callers* all PEs.
[[nodiscard]] std::vector<pair_map> measure_maps(benchmark_world& s, const options& how, const std::vector<row>& rows);

/// The document. Rows without sizes are left out.
[[nodiscard]] std::string drawing_of(const std::vector<result>& all, const std::vector<pair_map>& maps);

}  // namespace pgas::perf
