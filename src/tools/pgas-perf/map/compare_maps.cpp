#include "map/compare_maps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "map/figure_text.hpp"

namespace pgas::perf {

std::size_t map_comparison::too_slow() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pairs, [&](const pair_change& each) { return each.slower > tolerance; }));
}

std::string why_incomparable(const world_map& before, const world_map& now) {
  if (before.size() != now.size())
    return fmt::format("it is a map of {} PEs, and this world has {}", before.size(), now.size());
  if (before.heap != now.heap)
    return fmt::format("it is a map of a heap of kind {}, and this one is {}", before.heap, now.heap);
  if (before.bytes != now.bytes)
    return fmt::format("its transfers have {} bytes, give --bytes {}", before.bytes, size_text(before.bytes));
  if (before.quick != now.quick)
    return before.quick ? "it was made with --quick, and this one without" : "it was made without --quick";
  return {};
}

map_comparison compare(const world_map& before, const world_map& now, double tolerance) {
  map_comparison found{{}, tolerance};
  for (const pair_map& map : now.maps) {
    const pair_map* const old = before.find(map.measure, map.in);
    if (old == nullptr) continue;
    map.each([&](std::size_t from, std::size_t to, double figure) {
      const double was = old->figures[from][to];
      if (std::isnan(was)) return;
      // A doubled latency is rated like a halved bandwidth: both are half of the speed.
      const double speed = map.more_is_better ? figure / was : was / figure;
      found.pairs.push_back({map.measure, map.in, map.unit, from, to, was, figure, 1 - speed});
    });
  }
  std::ranges::stable_sort(found.pairs, std::ranges::greater{}, &pair_change::slower);
  return found;
}

std::string text_of(const pair_change& change) {
  return fmt::format("PE {} -> PE {}, {} {}: {} {}, was {}, {:.0f} % {}", change.from, change.to, change.measure,
                     change.in, figure_text(change.now), change.unit, figure_text(change.before),
                     100 * std::abs(change.slower), change.slower >= 0 ? "slower" : "faster");
}

}  // namespace pgas::perf
