#include "map/outliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "map/figure_text.hpp"

namespace pgas::perf {

namespace {

[[nodiscard]] bool is_slow(double share, double middle, double deviation) {
  return share < slow_share * middle && middle - share > slow_deviations * deviation;
}

/// The figures of a map as shares of the median of their kind of route. For latencies, the share is the median divided
/// by the figure. So for every unit, 1 is usual and a smaller share is worse.
class shares {
 public:
  shares(const pair_map& map, const square<std::string>& kinds)
      : map_(map), kinds_(make_square(map.size(), std::size_t{0})), left_(map.figures) {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t from = 0; from < size(); ++from)
      for (std::size_t to = 0; to < size(); ++to)
        kinds_[from][to] = numbers.emplace(kinds[from][to], numbers.size()).first->second;
    medians_.assign(numbers.size(), unmeasured);
    update();
  }

  [[nodiscard]] std::size_t size() const { return map_.size(); }
  /// The share of this pair; unmeasured if the pair was left out.
  [[nodiscard]] double at(std::size_t from, std::size_t to) const {
    const double figure = left_[from][to];
    if (from == to || std::isnan(figure)) return unmeasured;
    const double middle = medians_[kinds_[from][to]];
    return map_.more_is_better ? figure / middle : middle / figure;
  }
  /// The figure as a multiple of the median of its kind.
  [[nodiscard]] double ratio(std::size_t from, std::size_t to) const {
    return map_.figures[from][to] / medians_[kinds_[from][to]];
  }
  /// The shares of a row (out of `pe`) or of a column (into `pe`).
  [[nodiscard]] std::vector<double> line(std::size_t pe, bool out) const {
    std::vector<double> found;
    for (std::size_t other = 0; other < size(); ++other) {
      const double value = out ? at(pe, other) : at(other, pe);
      if (!std::isnan(value)) found.push_back(value);
    }
    return found;
  }
  /// Excludes the line from all later results.
  void leave_out(std::size_t pe, bool out) {
    for (std::size_t other = 0; other < size(); ++other) (out ? left_[pe][other] : left_[other][pe]) = unmeasured;
    update();
  }
  /// The remaining pairs that are slow compared with other pairs of their kind, if there are enough pairs of this kind.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> slow_pairs() const {
    std::vector<std::vector<double>> by_kind(medians_.size());
    each_left([&](std::size_t from, std::size_t to) { by_kind[kinds_[from][to]].push_back(at(from, to)); });
    std::vector<double> deviations;
    for (const std::vector<double>& all : by_kind) deviations.push_back(deviation_of(all, 1));
    std::vector<std::pair<std::size_t, std::size_t>> found;
    each_left([&](std::size_t from, std::size_t to) {
      const std::size_t kind = kinds_[from][to];
      if (by_kind[kind].size() >= fewest_to_judge && is_slow(at(from, to), 1, deviations[kind]))
        found.emplace_back(from, to);
    });
    return found;
  }

 private:
  template <class F>
  void each_left(const F& f) const {
    for (std::size_t from = 0; from < size(); ++from)
      for (std::size_t to = 0; to < size(); ++to)
        if (from != to && !std::isnan(left_[from][to])) f(from, to);
  }
  /// Computes the medians of the remaining pairs. A kind without remaining pairs keeps its last median.
  void update() {
    std::vector<std::vector<double>> by_kind(medians_.size());
    each_left([&](std::size_t from, std::size_t to) { by_kind[kinds_[from][to]].push_back(left_[from][to]); });
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind)
      if (!by_kind[kind].empty()) medians_[kind] = median_of(std::move(by_kind[kind]));
  }

  const pair_map& map_;
  square<std::size_t> kinds_;  ///< the kind of each pair's route, as a number
  square<double> left_;
  std::vector<double> medians_;  ///< medians by kind
};

/// A row or column of a map.
struct map_line {
  std::size_t pe = 0;
  bool out = true;
  double share = 1;  ///< relative to the usual line
};

/// Finds the slowest line among the rows, or among the columns, that is slow as a whole: slow in the median and in
/// three quarters of its pairs. False if no line is slow.
[[nodiscard]] bool find_slowest(const shares& all, bool out, map_line& slowest) {
  std::vector<double> medians;
  std::vector<std::size_t> pes;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::vector<double> line = all.line(pe, out);
    if (line.size() < 2) continue;
    pes.push_back(pe);
    medians.push_back(median_of(line));
  }
  if (medians.size() < fewest_to_judge) return false;
  const double middle = median_of(medians);
  const double deviation = deviation_of(medians, middle);
  bool found = false;
  for (std::size_t i = 0; i < pes.size(); ++i) {
    const double share = medians[i] / middle;
    if (!is_slow(medians[i], middle, deviation) || share >= slowest.share) continue;
    const std::vector<double> line = all.line(pes[i], out);
    const auto slow = std::ranges::count_if(line, [&](double value) { return value < slow_share * middle; });
    if (static_cast<std::size_t>(slow) * 4 < line.size() * 3) continue;
    slowest = {pes[i], out, share};
    found = true;
  }
  return found;
}

/// The median figure and the median ratio of a slow line. *Callers* after all slow lines have been left out of `all`.
[[nodiscard]] outlier outlier_of(const pair_map& map, const shares& all, const map_line& line) {
  std::vector<double> figures;
  std::vector<double> ratios;
  map.each([&](std::size_t from, std::size_t to, double figure) {
    if ((line.out ? from : to) != line.pe) return;
    figures.push_back(figure);
    ratios.push_back(all.ratio(from, to));
  });
  const int pe = static_cast<int>(line.pe);
  return {map.measure,        map.in,           map.unit, line.out ? pe : outlier::any, line.out ? outlier::any : pe,
          median_of(figures), median_of(ratios)};
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return unmeasured;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double deviation_of(const std::vector<double>& values, double middle) {
  constexpr double of_normal_distribution = 1.4826;
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return of_normal_distribution * median_of(std::move(distances));
}

std::vector<outlier> find_outliers(const pair_map& map, const square<std::string>& kinds) {
  shares all(map, kinds);
  std::vector<map_line> lines;
  for (map_line slowest;; slowest = {}) {
    const bool out = find_slowest(all, true, slowest);
    const bool in = find_slowest(all, false, slowest);
    if (!out && !in) break;
    lines.push_back(slowest);
    all.leave_out(slowest.pe, slowest.out);
  }
  std::vector<outlier> found;
  for (const map_line& line : lines) found.push_back(outlier_of(map, all, line));

  const auto first_pair = static_cast<std::ptrdiff_t>(found.size());
  for (const auto& [from, to] : all.slow_pairs())
    found.push_back({map.measure, map.in, map.unit, static_cast<int>(from), static_cast<int>(to), map.figures[from][to],
                     all.ratio(from, to)});
  std::sort(found.begin() + first_pair, found.end(), [&](const outlier& a, const outlier& b) {
    return map.more_is_better ? a.ratio < b.ratio : a.ratio > b.ratio;
  });
  return found;
}

std::vector<outlier> find_outliers(const world_map& map) {
  std::vector<outlier> found;  // PEs, then pairs
  std::vector<outlier> pairs;
  for (const pair_map& each : map.maps)
    for (const outlier& slow : find_outliers(each, map.kinds))
      (slow.from == outlier::any || slow.to == outlier::any ? found : pairs).push_back(slow);
  std::ranges::move(pairs, std::back_inserter(found));
  const double middle = median_of(map.all_pairs);
  const double deviation = deviation_of(map.all_pairs, middle);
  for (std::size_t pe = 0; pe < map.all_pairs.size() && map.all_pairs.size() >= fewest_to_judge; ++pe)
    if (is_slow(map.all_pairs[pe], middle, deviation))
      found.push_back({"bandwidth", "all", "GB/s", static_cast<int>(pe), outlier::any, map.all_pairs[pe],
                       map.all_pairs[pe] / middle});
  return found;
}

std::string text_of(const outlier& slow) {
  const std::string figure = fmt::format("{} {}", figure_text(slow.figure), slow.unit);
  if (slow.in == "all" && slow.to == outlier::any)
    return fmt::format("PE {} is slow when all put to all: {}, {:.2g} of the median", slow.from, figure, slow.ratio);
  if (slow.from == outlier::any)
    return fmt::format("everything into PE {} is slow: median {}, {:.2g} of its kind's", slow.to, figure, slow.ratio);
  if (slow.to == outlier::any)
    return fmt::format("everything out of PE {} is slow: median {}, {:.2g} of its kind's", slow.from, figure,
                       slow.ratio);
  return fmt::format("PE {} -> PE {}: {}, {:.2g} of the median of its kind", slow.from, slow.to, figure, slow.ratio);
}

}  // namespace pgas::perf
