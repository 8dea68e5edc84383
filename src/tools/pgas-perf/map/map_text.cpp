#include "map/map_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "map/figure_text.hpp"
#include "map/link_peaks.hpp"
#include "map/map_summary.hpp"
#include "map/outliers.hpp"
#include "tools/common/text.hpp"

namespace pgas::perf {

namespace {

constexpr const char* bold = "\033[1m";
constexpr const char* red = "\033[31m";
constexpr const char* green = "\033[32m";

std::string painted(const std::string& text, const char* with, const text_style& style) {
  return style.colour ? fmt::format("{}{}\033[0m", with, text) : text;
}

/// Text in lines of the style's width. Further lines are indented.
std::string wrapped(const std::string& text, const text_style& style) {
  return tools::wrapped(text, style.width, 2) + '\n';
}

/// The cells of all pairs. A row contains the pairs with the same `from`. Columns that do not fit beside each other are
/// split into bands.
std::string matrix(const std::string& title, std::size_t n, const text_style& style,
                   const std::function<std::string(std::size_t, std::size_t)>& cell,
                   const std::function<const char*(std::size_t, std::size_t)>& paint) {
  constexpr std::size_t label = 7;
  const std::size_t room = style.width - label;
  const std::size_t cell_width = n * 6 <= room ? 6 : 5;
  const std::size_t most = std::max<std::size_t>(1, room / cell_width);
  const std::size_t bands = (n + most - 1) / most;
  const std::size_t columns = (n + bands - 1) / bands;
  std::string out;
  for (std::size_t first = 0; first < n; first += columns) {
    out += wrapped(painted(title, bold, style), style);
    out += fmt::format("{:<{}}", "from\\to", label);
    const std::size_t end = std::min(n, first + columns);
    for (std::size_t to = first; to < end; ++to) out += fmt::format("{:>{}}", to, cell_width);
    out += '\n';
    for (std::size_t from = 0; from < n; ++from) {
      out += fmt::format("{:>{}}", from, label);
      for (std::size_t to = first; to < end; ++to) {
        const std::string padded = fmt::format("{:>{}}", from == to ? "." : cell(from, to), cell_width);
        const char* const colour = from == to ? nullptr : paint(from, to);
        out += colour == nullptr ? padded : painted(padded, colour, style);
      }
      out += '\n';
    }
    out += '\n';
  }
  return out;
}

/// The pairs of a map that are outliers, or lie in a row or column that is an outlier.
class slow_pairs {
 public:
  slow_pairs(const pair_map& map, const std::vector<outlier>& outliers) {
    for (const outlier& each : outliers)
      if (each.measure == map.measure && each.in == map.in) slow_.insert({each.from, each.to});
  }
  [[nodiscard]] bool operator()(std::size_t from, std::size_t to) const {
    const int source = static_cast<int>(from);
    const int target = static_cast<int>(to);
    return slow_.contains({source, target}) || slow_.contains({source, outlier::any}) ||
           slow_.contains({outlier::any, target});
  }

 private:
  std::set<std::pair<int, int>> slow_;
};

std::string matrices(const world_map& map, const std::vector<outlier>& outliers, const text_style& style) {
  std::string out;
  const square<link_peak> peaks = peaks_of(map);
  for (const pair_map& each : map.maps) {
    const slow_pairs slow(each, outliers);
    const auto paint = [&](std::size_t from, std::size_t to) { return slow(from, to) ? red : nullptr; };
    out += matrix(
        title_of(each), map.size(), style,
        [&](std::size_t from, std::size_t to) { return figure_text(each.figures[from][to]); }, paint);
    if (each.measure != "bandwidth" || each.in != "alone") continue;
    out += matrix(
        "bandwidth alone, % of the peak", map.size(), style,
        [&](std::size_t from, std::size_t to) {
          return percent_text(each.figures[from][to] / peaks[from][to].gb_per_s);
        },
        paint);
  }
  return out;
}

/// For each PE and each measure, the medians of the transfers from the PE and to the PE. The figures come from the map
/// of the pattern "alone". If the measure has no map of this pattern, the figures come from the first map of the
/// measure.
std::string lines_of_pes(const world_map& map, const text_style& style) {
  std::vector<const pair_map*> shown;
  for (const std::string_view measure : {"bandwidth", "latency", "atomics"}) {
    const auto found = std::ranges::find(map.maps, measure, &pair_map::measure);
    const pair_map* const alone = map.find(measure, "alone");
    if (alone != nullptr || found != map.maps.end()) shown.push_back(alone != nullptr ? alone : &*found);
  }
  if (shown.empty()) return {};
  std::string out = fmt::format("medians out of each PE and into it, {}\n", shown.front()->in) +
                    fmt::format("{:>5} {:<16}", "PE", "host");
  for (const pair_map* each : shown) out += fmt::format(" {:>17}", each->measure + ", " + each->unit);
  out += '\n' + fmt::format("{:>5} {:<16}", "", "");
  for (std::size_t i = 0; i < shown.size(); ++i) out += fmt::format(" {:>8} {:>8}", "out", "in");
  out += '\n';
  for (std::size_t pe = 0; pe < map.size(); ++pe) {
    out += fmt::format("{:>5} {:<16.16}", pe, map.pes[pe].host);
    for (const pair_map* each : shown)
      out += fmt::format(" {:>8} {:>8}", figure_text(median_of_line(*each, pe, true)),
                         figure_text(median_of_line(*each, pe, false)));
    out += '\n';
  }
  return out + fmt::format("{}\n\n", style.matrices ? "" : "--matrices prints every pair; pgas-plot draws them.");
}

std::string summary(const world_map& map, const text_style& style) {
  constexpr auto line_format = "{:<9} {:<6} {:<19.19} {:>5} {:>6} {:>6} {:>7} {:<4} {:>6}";
  std::string out = painted(fmt::format(fmt::runtime(line_format), "measure", "when", "route", "pairs", "lowest",
                                        "median", "highest", "unit", "% peak"),
                            bold, style) +
                    '\n';
  for (const summary_line& each : summary_of(map))
    out +=
        fmt::format(fmt::runtime(line_format), each.measure, each.in, each.kind, each.pairs, figure_text(each.lowest),
                    figure_text(each.median), figure_text(each.highest), each.unit, percent_text(each.share)) +
        '\n';
  for (const std::string& line : peak_lines(map)) out += wrapped(line, style);
  return out + '\n';
}

}  // namespace

std::string text_of(const world_map& map, const text_style& style) {
  const std::vector<outlier> outliers = find_outliers(map);
  std::string out;
  if (map.size() <= most_pes_of_matrices || style.matrices) out += matrices(map, outliers, style);
  if (map.size() > most_pes_of_matrices) out += lines_of_pes(map, style);
  if (!map.maps.empty() || !map.all_pairs.empty()) out += summary(map, style);
  constexpr std::size_t most_named = 20;
  if (map.size() > 1 && outliers.empty())
    out += map.size() < fewest_to_judge
               ? fmt::format("outliers: not looked for among fewer than {} PEs\n", fewest_to_judge)
               : "outliers: none\n";
  for (std::size_t i = 0; i < std::min(most_named, outliers.size()); ++i)
    out += wrapped(painted(fmt::format("outlier, {} {}: {}", outliers[i].measure, outliers[i].in, text_of(outliers[i])),
                           red, style),
                   style);
  if (outliers.size() > most_named) out += fmt::format("and {} more outliers\n", outliers.size() - most_named);
  if (!map.note.empty()) out += wrapped("note: " + map.note, style);
  if (const std::string complaint = complaint_line(map); !complaint.empty())
    out += wrapped(painted(complaint, red, style), style);
  return out;
}

std::string text_of(const map_comparison& comparison, const text_style& style) {
  constexpr std::size_t most_named = 20;
  const std::size_t slow = comparison.too_slow();
  std::string out;
  for (std::size_t i = 0; i < std::min(slow, most_named); ++i)
    out += wrapped(painted("slower: " + text_of(comparison.pairs[i]), red, style), style);
  if (slow > most_named) out += fmt::format("and {} more pairs\n", slow - most_named);
  const std::string verdict = fmt::format("compared: {} of {} figures are slower by more than {:.3g} %", slow,
                                          comparison.pairs.size(), 100 * comparison.tolerance);
  out += wrapped(painted(verdict, slow == 0 ? green : red, style), style);
  if (!comparison.pairs.empty())
    out += wrapped("most slowed: " + text_of(comparison.pairs.front()), style) +
           wrapped("most sped up: " + text_of(comparison.pairs.back()), style);
  return out;
}

}  // namespace pgas::perf
