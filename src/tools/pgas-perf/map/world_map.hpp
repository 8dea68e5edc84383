/// @file
/// The contents of a map: for each measure and pattern, a figure for each ordered pair of PEs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::perf {

/// A value for each ordered pair: [from][to]. The diagonal is unused.
template <class T>
using square = std::vector<std::vector<T>>;

/// A figure that was not measured.
inline constexpr double unmeasured = std::numeric_limits<double>::quiet_NaN();

template <class T>
[[nodiscard]] square<T> make_square(std::size_t n, const T& value) {
  return square<T>(n, std::vector<T>(n, value));
}

/// One figure for each ordered pair.
struct pair_map {
  std::string measure;  ///< "bandwidth", "latency", "atomics"
  std::string in;       ///< the pattern: "alone", "shift", "incast"
  std::string unit;
  bool more_is_better = true;
  square<double> figures;

  [[nodiscard]] std::size_t size() const { return figures.size(); }
  /// Calls `f(from, to, figure)` for every pair that was measured.
  template <class F>
  void each(const F& f) const {
    for (std::size_t from = 0; from < size(); ++from)
      for (std::size_t to = 0; to < size(); ++to)
        if (from != to && !std::isnan(figures[from][to])) f(from, to, figures[from][to]);
  }
};

struct mapped_pe {
  std::string host;
  std::string device;
};

struct world_map {
  std::string version;
  std::string heap;  ///< "host" or "cuda"
  std::vector<mapped_pe> pes;
  std::size_t bytes = 0;  ///< the bytes of a transfer in the maps of bandwidth
  bool quick = false;  ///< whether other disjoint pairs transferred at the same time as a pair of the pattern "alone"
  double seconds = 0;  ///< the duration of the measurement
  std::string note;    ///< the reason why the figures are doubtful; empty if they are not doubtful
  square<std::string> kinds;  ///< the kinds of routes: "direct, same host"
  square<double> peaks;       ///< GB/s of the link between two GPUs; unmeasured if it is not known
  square<std::string> links;  ///< the kind of link: "NVLink"
  std::vector<pair_map> maps;
  std::vector<double> all_pairs;  ///< GB/s out of each PE while all PEs put to all; empty: not measured
  std::uint64_t wrong = 0;        ///< the number of wrong words
  std::size_t skipped_steps = 0;  ///< the number of steps left out because of the time limit
  /// The number of measured steps; a step is the transfers of a pattern that run at the same time.
  std::size_t measured_steps = 0;

  [[nodiscard]] std::size_t size() const { return pes.size(); }
  /// The map with this measure and pattern; null if the document has no such map.
  [[nodiscard]] const pair_map* find(std::string_view measure, std::string_view in) const {
    for (const pair_map& each : maps)
      if (each.measure == measure && each.in == in) return &each;
    return nullptr;
  }
};

}  // namespace pgas::perf
