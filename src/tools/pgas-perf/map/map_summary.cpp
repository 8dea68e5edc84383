#include "map/map_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "map/figure_text.hpp"
#include "map/link_peaks.hpp"
#include "map/outliers.hpp"

namespace pgas::perf {

namespace {

void set_range(summary_line& line, const std::vector<double>& figures) {
  line.pairs = figures.size();
  line.lowest = std::ranges::min(figures);
  line.median = median_of(figures);
  line.highest = std::ranges::max(figures);
}

/// The distinct names in the order of their first appearance. The first few names are written out.
std::string list_of_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::vector<std::string> different;
  for (const std::string& name : names)
    if (std::ranges::find(different, name) == different.end()) different.push_back(name);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, different.size()); ++i) text += (i == 0 ? "" : ", ") + different[i];
  return different.size() > most ? fmt::format("{} and {} others", text, different.size() - most) : text;
}

}  // namespace

std::vector<summary_line> summary_of(const world_map& map) {
  const square<link_peak> peaks = peaks_of(map);
  std::vector<summary_line> lines;
  for (const pair_map& each : map.maps) {
    std::map<std::string, std::vector<double>> figures;
    std::map<std::string, std::vector<double>> shares;
    each.each([&](std::size_t from, std::size_t to, double figure) {
      const std::string& kind = map.kinds[from][to];
      figures[kind].push_back(figure);
      if (each.measure == "bandwidth" && !std::isnan(peaks[from][to].gb_per_s))
        shares[kind].push_back(figure / peaks[from][to].gb_per_s);
    });
    for (const auto& [kind, values] : figures) {
      summary_line& line = lines.emplace_back();
      line.measure = each.measure;
      line.in = each.in;
      line.kind = kind;
      line.unit = each.unit;
      line.share = median_of(shares[kind]);
      set_range(line, values);
    }
  }
  if (!map.all_pairs.empty()) {
    summary_line& line = lines.emplace_back();
    line.measure = "bandwidth";
    line.in = "all";
    line.kind = "out of each PE";
    line.unit = "GB/s";
    set_range(line, map.all_pairs);
  }
  return lines;
}

std::vector<std::string> peak_lines(const world_map& map) {
  const square<link_peak> peaks = peaks_of(map);
  std::set<std::string> lines;
  for (std::size_t from = 0; from < map.size(); ++from)
    for (std::size_t to = 0; to < map.size(); ++to)
      if (from != to && !std::isnan(peaks[from][to].gb_per_s))
        lines.insert(fmt::format("peak, {}: {}, {} GB/s", map.kinds[from][to],
                                 peaks[from][to].source == best_pair
                                     ? "unknown; the best figure of a pair that ran alone"
                                     : peaks[from][to].source + " by NVML",
                                 figure_text(peaks[from][to].gb_per_s)));
  return {lines.begin(), lines.end()};
}

double median_of_line(const pair_map& map, std::size_t pe, bool out) {
  std::vector<double> figures;
  map.each([&](std::size_t from, std::size_t to, double figure) {
    if ((out ? from : to) == pe) figures.push_back(figure);
  });
  return median_of(std::move(figures));
}

std::string world_line(const world_map& map) {
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  for (const mapped_pe& pe : map.pes) {
    hosts.push_back(pe.host);
    devices.push_back(pe.device);
  }
  const std::size_t n_hosts = std::set(hosts.begin(), hosts.end()).size();
  return fmt::format("{} PE{} on {} host{}, {}; puts of {} bytes{}", map.size(), map.size() == 1 ? "" : "s", n_hosts,
                     n_hosts == 1 ? "" : "s", list_of_names(devices), size_text(map.bytes),
                     map.quick ? "; --quick: disjoint pairs together" : "");
}

std::string complaint_line(const world_map& map) {
  std::string text;
  if (map.wrong != 0) text += fmt::format("{} words of data were WRONG. ", map.wrong);
  if (map.skipped_steps != 0)
    text += fmt::format("{} of {} steps had no time: give a larger --limit, or --quick. ", map.skipped_steps,
                        map.skipped_steps + map.measured_steps);
  if (!text.empty()) text.pop_back();
  return text;
}

std::string title_of(const pair_map& map) { return fmt::format("{} {}, {}", map.measure, map.in, map.unit); }

}  // namespace pgas::perf
