/// @file
/// Maps with figures that a test chooses.
#pragma once

#include <functional>
#include <string>

#include "map/world_map.hpp"

namespace pgas::perf {

/// A map in which the figure of each pair is `figure(from, to)`.
inline pair_map synthetic(std::size_t n, const std::function<double(std::size_t, std::size_t)>& figure,
                          const std::string& measure = "bandwidth", const std::string& in = "alone") {
  const bool bandwidth = measure == "bandwidth";
  pair_map map{measure, in, bandwidth ? "GB/s" : "us", bandwidth, make_square(n, unmeasured)};
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to)
      if (from != to) map.figures[from][to] = figure(from, to);
  return map;
}

/// Figures of one kind that differ by a few percent, in the same way in each run.
inline double about(double value, std::size_t from, std::size_t to) {
  return value * (1 + 0.01 * static_cast<double>((from * 7 + to * 13) % 5));
}

/// A world of `n` PEs with `pes_of_host` PEs on each host: direct within a host, proxied between hosts.
inline world_map synthetic_world(std::size_t n, std::size_t pes_of_host) {
  world_map map;
  map.version = "1.2.3";
  map.heap = "host";
  map.bytes = std::size_t{4} << 20;
  map.kinds = make_square(n, std::string());
  map.links = map.kinds;
  map.peaks = make_square(n, unmeasured);
  for (std::size_t from = 0; from < n; ++from) {
    map.pes.push_back({"host" + std::to_string(from / pes_of_host), "host memory"});
    for (std::size_t to = 0; to < n; ++to)
      if (from != to)
        map.kinds[from][to] = from / pes_of_host == to / pes_of_host ? "direct, same host" : "proxied, other host";
  }
  return map;
}

}  // namespace pgas::perf
