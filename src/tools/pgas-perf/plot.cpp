#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "map/figure_text.hpp"
#include "map/map_picture.hpp"
#include "report.hpp"

namespace pgas::perf {

namespace {

constexpr double panel_width = 340;
constexpr double panel_height = 260;
constexpr double left = 52;
constexpr double top = 30;
constexpr double plot_width = panel_width - left - 12;
constexpr double plot_height = panel_height - top - 34;
constexpr std::size_t panels_in_line = 4;
constexpr const char* colours[] = {"#1b6ca8", "#d1495b", "#3a7d44", "#e09f3e", "#6d597a",
                                   "#2a9d8f", "#9c6644", "#4a4e69", "#c77dff"};

/// An axis whose equal steps are equal factors, from pixel `begin` to pixel `end`.
struct axis {
  double least;
  double most;
  double begin;
  double end;

  [[nodiscard]] double at(double value) const {
    const double range = std::log(most / least);
    return range <= 0 ? (begin + end) / 2 : begin + (end - begin) * std::log(value / least) / range;
  }
};

void text(std::string& to, double x, double y, const char* anchor, double size, const std::string& what) {
  fmt::format_to(std::back_inserter(to), R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}">{}</text>)", x,
                 y, anchor, size, what);
}

void line(std::string& to, double x1, double y1, double x2, double y2, const char* colour) {
  fmt::format_to(std::back_inserter(to), R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>)", x1,
                 y1, x2, y2, colour);
}

/// Medians over sizes, a line for each shape; a stroke from the lowest to the highest run.
std::string curves(const row& of, const std::vector<const result*>& points) {
  constexpr double none = std::numeric_limits<double>::max();
  axis x{none, 0, left, left + plot_width};
  axis y{none, 0, top + plot_height, top};
  std::map<std::string, std::vector<const result*>> series;
  for (const result* each : points) {
    const auto bytes = static_cast<double>(each->at.bytes);
    x.least = std::min(x.least, bytes);
    x.most = std::max(x.most, bytes);
    y.least = std::min(y.least, each->least());
    y.most = std::max(y.most, each->most());
    series[of.by == shape::host ? "host"
                                : fmt::format("{} {}x{}", name_of(each->at.by), each->at.blocks, each->at.threads)]
        .push_back(each);
  }
  std::string drawn;
  text(drawn, panel_width / 2, 18, "middle", 13, fmt::format("{}, {}", of.name, unit_of(of)));
  double shown = -100;
  for (const result* each : points) {
    const double here = x.at(static_cast<double>(each->at.bytes));
    if (here < shown + 32) continue;
    shown = here;
    line(drawn, here, top, here, top + plot_height, "#e4e4e4");
    text(drawn, here, top + plot_height + 14, "middle", 10, size_text(each->at.bytes));
  }
  for (double decade = std::pow(10, std::ceil(std::log10(y.least))); decade <= y.most; decade *= 10) {
    line(drawn, left, y.at(decade), left + plot_width, y.at(decade), "#e4e4e4");
    text(drawn, left - 5, y.at(decade) + 3, "end", 10, fmt::format("{:g}", decade));
  }
  text(drawn, left - 5, y.at(y.most) + 3, "end", 10, fmt::format("{:.3g}", y.most));
  std::size_t number = 0;
  for (const auto& [name, of_shape] : series) {
    const char* const colour = colours[number % std::size(colours)];
    std::string path;
    for (const result* each : of_shape) {
      const double here = x.at(static_cast<double>(each->at.bytes));
      path += fmt::format("{:.1f},{:.1f} ", here, y.at(each->median()));
      line(drawn, here, y.at(each->least()), here, y.at(each->most()), colour);
    }
    drawn += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="1.6"/>)", path, colour);
    drawn += fmt::format(R"(<g fill="{}">)", colour);
    text(drawn, left + 6, top + 12 + 12 * static_cast<double>(number++), "start", 10, name);
    drawn += "</g>";
  }
  return drawn;
}

}  // namespace

std::vector<pair_map> measure_maps(benchmark_world& s, const options& how, const std::vector<row>& rows) {
  const auto n = static_cast<std::size_t>(s.world().n_pes());
  std::vector<pair_map> maps;
  const auto measure_all = [&](std::string_view name, std::size_t bytes, bool more_is_better) {
    const auto found = std::ranges::find(rows, name, &row::name);
    options pairs = how;
    pairs.least_bytes = pairs.most_bytes = bytes;
    pair_map map{std::string(name), {}, std::string(unit_of(*found)), more_is_better, make_square(n, unmeasured)};
    for (std::size_t i = 0; i < n * n; ++i) {
      if (i / n == i % n) continue;
      pairs.pair = {static_cast<int>(i / n), static_cast<int>(i % n)};
      const point at = points_of(*found, pairs, s.world()).back();  // the most blocks
      map.figures[i / n][i % n] = measure(s, pairs, *found, at).median();
      map.in = fmt::format("{} bytes {}x{}", size_text(bytes), at.blocks, at.threads);
    }
    maps.push_back(std::move(map));
  };
  if (n < 2) return maps;
  measure_all("put_bw", how.most_bytes / 8 * 8, true);
  measure_all("put_lat", 8, false);
  return maps;
}

std::string drawing_of(const std::vector<result>& all, const std::vector<pair_map>& maps) {
  std::vector<std::string> panels;
  for (std::size_t i = 0; i < all.size();) {
    std::vector<const result*> points;
    const row* const of = all[i].of;
    for (; i < all.size() && all[i].of == of; ++i) points.push_back(&all[i]);
    if (of->most_bytes > of->least_bytes) panels.push_back(curves(*of, points));
  }
  for (const pair_map& each : maps) panels.push_back(heat_panel(each, {}, panel_width, panel_height));
  const std::size_t lines = (panels.size() + panels_in_line - 1) / panels_in_line;
  std::string document = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" fill="#222">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n",
      panel_width * panels_in_line, panel_height * static_cast<double>(lines));
  for (std::size_t i = 0; i < panels.size(); ++i)
    document +=
        fmt::format("<g transform=\"translate({},{})\">{}</g>\n", panel_width * static_cast<double>(i % panels_in_line),
                    panel_height * static_cast<double>(i / panels_in_line), panels[i]);
  return document + "</svg>\n";
}

}  // namespace pgas::perf
