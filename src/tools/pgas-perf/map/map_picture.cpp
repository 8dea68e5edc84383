#include "map/map_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "map/figure_text.hpp"
#include "map/map_summary.hpp"

namespace pgas::perf {

namespace {

constexpr double panel_width = 400;
constexpr double panel_height = 380;
constexpr double margin = 12;
constexpr std::size_t panels_in_line = 3;

template <class... Values>
void add(std::string& to, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(to), format, std::forward<Values>(values)...);
}

void add_text(std::string& to, double x, double y, const char* anchor, double size, std::string_view what,
              const char* more = "") {
  add(to, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{:.3g}"{}>{}</text>)", x, y, anchor, size, more,
      xml_text(what));
}

/// The colour of a share of the way from the worst to the best.
std::string colour_of(double good) {
  return fmt::format("rgb({:.0f},{:.0f},{:.0f})", 247 - 214 * good, 251 - 138 * good, 255 - 74 * good);
}

/// From the worst figure of a map to the best, in equal steps of equal factors. At least a factor of two, so that pairs
/// that hardly differ look alike.
class colour_scale {
 public:
  explicit colour_scale(const pair_map& map) : more_is_better_(map.more_is_better), unit_(map.unit) {
    map.each([&](std::size_t, std::size_t, double figure) {
      least_ = least_ == 0 ? figure : std::min(least_, figure);
      most_ = std::max(most_, figure);
    });
    if (more_is_better_) {
      least_ = std::min(least_, most_ / 2);
    } else {
      most_ = std::max(most_, least_ * 2);
    }
  }
  /// 0 for the worst, 1 for the best.
  [[nodiscard]] double goodness(double figure) const {
    const double place = least_ > 0 ? std::log(figure / least_) / std::log(most_ / least_) : 1;
    return std::clamp(more_is_better_ ? place : 1 - place, 0.0, 1.0);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} to {} {}", figure_text(more_is_better_ ? least_ : most_),
                       figure_text(more_is_better_ ? most_ : least_), unit_);
  }

 private:
  bool more_is_better_;
  const std::string& unit_;
  double least_ = 0;
  double most_ = 0;
};

/// Whether the pair is an outlier, or everything out of or into its PE is one.
bool is_outlier(const pair_map& map, const std::vector<outlier>& outliers, std::size_t from, std::size_t to) {
  return std::ranges::any_of(outliers, [&](const outlier& slow) {
    return slow.measure == map.measure && slow.in == map.in &&
           (slow.from == outlier::any || slow.from == static_cast<int>(from)) &&
           (slow.to == outlier::any || slow.to == static_cast<int>(to));
  });
}

std::string head_of(const world_map& map) { return fmt::format("pgas-perf map: {}", world_line(map)); }

template <class... Cells>
void add_row(std::string& to, const char* kind, const Cells&... cells) {
  to += "<tr>";
  (add(to, "<{0}>{1}</{0}>", kind, xml_text(cells)), ...);
  to += "</tr>\n";
}

constexpr const char* page_style =
    "body{font-family:sans-serif;color:#222;max-width:75em;margin:1em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "td:nth-child(-n+3),th:nth-child(-n+3){text-align:left}svg{max-width:100%;height:auto}.bad{color:#b00020}";

std::string summary_table(const world_map& map) {
  std::string page = "<table>\n";
  add_row(page, "th", "measure", "when", "route", "pairs", "lowest", "median", "highest", "unit", "% of peak");
  for (const summary_line& each : summary_of(map))
    add_row(page, "td", each.measure, each.in, each.kind, fmt::format("{}", each.pairs), figure_text(each.lowest),
            figure_text(each.median), figure_text(each.highest), each.unit, percent_text(each.share));
  return page + "</table>\n";
}

std::string comparison_part(const map_comparison& of) {
  constexpr std::size_t most = 100;
  std::string page = "<h2>Compared</h2>\n";
  add(page, "<p{}>{} of {} figures are slower by more than {:.3g} %.</p>\n",
      of.too_slow() == 0 ? "" : R"( class="bad")", of.too_slow(), of.pairs.size(), 100 * of.tolerance);
  page += "<ul>\n";
  for (std::size_t i = 0; i < std::min(most, of.too_slow()); ++i)
    add(page, "<li>{}</li>\n", xml_text(text_of(of.pairs[i])));
  if (of.too_slow() == 0) page += "<li>no pair</li>\n";
  return page + "</ul>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        // Bytes that are no characters of XML, or of no certain encoding.
        out += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
    }
  }
  return out;
}

std::string heat_panel(const pair_map& map, const std::vector<outlier>& outliers, double width, double height) {
  constexpr double left = 44;
  constexpr double top = 42;
  constexpr double bottom = 34;
  const auto n = static_cast<double>(map.size());
  const colour_scale scale(map);
  std::string drawn;
  add_text(drawn, width / 2, 16, "middle", 13, title_of(map));
  if (map.size() == 0) return drawn;
  const double side = std::min(width - left - margin, height - top - bottom) / n;
  const double label_size = std::clamp(side * 0.6, 4.0, 11.0);
  // Of many PEs every few have their number.
  const auto label_step = static_cast<std::size_t>(std::max(1.0, std::ceil(7 / side)));
  for (std::size_t pe = 0; pe < map.size(); pe += label_step) {
    const double middle = side * (static_cast<double>(pe) + 0.5);
    add_text(drawn, left - 4, top + middle + label_size / 3, "end", label_size,
             fmt::format("{}{}", pe == 0 ? "from " : "", pe));
    add_text(drawn, left + middle, top - 4, "middle", label_size, fmt::format("{}{}", pe == 0 ? "to " : "", pe));
  }
  map.each([&](std::size_t from, std::size_t to, double figure) {
    const double good = scale.goodness(figure);
    const double x = left + side * static_cast<double>(to);
    const double y = top + side * static_cast<double>(from);
    const double gap = std::min(1.0, side / 8);
    add(drawn,
        R"(<g><title>PE {} to PE {}: {} {}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"{}/>)",
        from, to, figure_text(figure), xml_text(map.unit), x + gap / 2, y + gap / 2, side - gap, side - gap,
        colour_of(good),
        is_outlier(map, outliers, from, to)
            ? fmt::format(R"( stroke="#d1102a" stroke-width="{:.1f}")", std::min(3.0, side / 6))
            : "");
    if (side >= 15)
      add_text(drawn, x + side / 2, y + side / 2 + std::min(11.0, side / 3) / 3, "middle", std::min(11.0, side / 3),
               figure_text(figure), good > 0.55 ? R"( fill="white")" : "");
    drawn += "</g>\n";
  });
  // The scale, from the worst to the best.
  const double y = height - 20;
  constexpr int shades = 20;
  for (int i = 0; i < shades; ++i)
    add(drawn, R"(<rect x="{:.1f}" y="{:.1f}" width="8.5" height="8" fill="{}"/>)", left + 8 * i, y,
        colour_of(static_cast<double>(i) / (shades - 1)));
  add_text(drawn, left + 8 * shades + 8, y + 8, "start", 10, scale.text());
  return drawn;
}

std::string svg_of(const world_map& map) {
  constexpr double head = 34;
  const std::vector<outlier> outliers = find_outliers(map);
  const std::size_t columns = std::clamp<std::size_t>(map.maps.size(), 1, panels_in_line);
  const std::size_t lines = (map.maps.size() + columns - 1) / columns;
  const double width = panel_width * static_cast<double>(columns);
  const double height = head + panel_height * static_cast<double>(lines);
  std::string svg;
  add(svg,
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif" fill="#222">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n",
      width, height);
  add_text(svg, margin, 22, "start", columns == 1 ? 10 : 13, head_of(map));
  svg += '\n';
  for (std::size_t i = 0; i < map.maps.size(); ++i)
    add(svg, "<g transform=\"translate({},{})\">\n{}</g>\n", panel_width * static_cast<double>(i % columns),
        head + panel_height * static_cast<double>(i / columns),
        heat_panel(map.maps[i], outliers, panel_width, panel_height));
  return svg + "</svg>\n";
}

std::string html_of(const world_map& map, const map_comparison* against) {
  std::string page;
  add(page,
      "<!DOCTYPE html>\n"
      R"(<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/><title>{0}</title><style>{1}</style></head><body>)"
      "\n<h1>{0}</h1>\n",
      xml_text(head_of(map)), page_style);
  if (const std::string complaint = complaint_line(map); !complaint.empty())
    add(page, "<p class=\"bad\">{}</p>\n", xml_text(complaint));
  if (!map.note.empty()) add(page, "<p>Note: {}</p>\n", xml_text(map.note));
  page += "<h2>Outliers</h2>\n<ul>\n";
  const std::vector<outlier> outliers = find_outliers(map);
  for (const outlier& slow : outliers)
    add(page, "<li class=\"bad\">{} {}: {}</li>\n", xml_text(slow.measure), xml_text(slow.in), xml_text(text_of(slow)));
  if (outliers.empty())
    add(page, "<li>{}</li>\n",
        map.size() < fewest_to_judge ? fmt::format("not looked for among fewer than {} PEs", fewest_to_judge) : "none");
  page += "</ul>\n";
  if (against != nullptr) page += comparison_part(*against);
  add(page, "<h2>Maps</h2>\n{}", svg_of(map));
  page += "<h2>Summary</h2>\n" + summary_table(map);
  for (const std::string& line : peak_lines(map)) add(page, "<p>{}</p>\n", xml_text(line));
  page += "<h2>PEs</h2>\n<table>\n";
  add_row(page, "th", "PE", "host", "device");
  for (std::size_t pe = 0; pe < map.size(); ++pe)
    add_row(page, "td", fmt::format("{}", pe), map.pes[pe].host, map.pes[pe].device);
  add(page, "</table>\n<p>pgas {}, {:.1f} s</p>\n</body></html>\n", xml_text(map.version), map.seconds);
  return page;
}

}  // namespace pgas::perf
