#include "map/link_peaks.hpp"

#include <algorithm>
#include <map>

namespace pgas::perf {

square<link_peak> peaks_of(const world_map& map) {
  std::map<std::string, double> best;
  if (const pair_map* const alone = map.find("bandwidth", "alone")) {
    alone->each([&](std::size_t from, std::size_t to, double figure) {
      double& so_far = best[map.kinds[from][to]];
      so_far = std::max(so_far, figure);
    });
  }
  square<link_peak> peaks = make_square(map.size(), link_peak{});
  for (std::size_t from = 0; from < map.size(); ++from) {
    for (std::size_t to = 0; to < map.size(); ++to) {
      if (from == to) continue;
      const auto measured = best.find(map.kinds[from][to]);
      // If a pair was faster than the reported peak, the pair used another link. Virtual machines hide some links.
      const double named = map.peaks[from][to];
      if (!std::isnan(named) && (measured == best.end() || measured->second <= 1.05 * named)) {
        peaks[from][to] = {named, map.links[from][to]};
      } else if (measured != best.end()) {
        peaks[from][to] = {measured->second, std::string(best_pair)};
      }
    }
  }
  return peaks;
}

}  // namespace pgas::perf
