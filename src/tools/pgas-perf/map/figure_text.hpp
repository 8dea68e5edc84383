/// @file
/// Figures as short text, the same in tables and sentences.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>

namespace pgas::perf {

/// The text of a figure, in at most four characters. The text has two or three digits, because further digits are
/// noise. "-" for a figure that was not measured.
[[nodiscard]] inline std::string figure_text(double value) {
  if (std::isnan(value)) return "-";
  if (value < 0.0995) return fmt::format("{:.3f}", value).substr(value < 0.9995 ? 1 : 0);
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  if (value < 999.5) return fmt::format("{:.0f}", value);
  for (const char unit : {'k', 'M', 'G'}) {
    value /= 1000;
    if (value < 9.95) return fmt::format("{:.1f}{}", value, unit);
    if (value < 999.5 || unit == 'G') return fmt::format("{:.0f}{}", value, unit);
  }
  return "-";
}

/// A size with the largest binary unit that divides the size.
[[nodiscard]] inline std::string size_text(std::size_t bytes) {
  constexpr const char* units[] = {"", "K", "M", "G"};
  std::size_t unit = 0;
  for (; unit + 1 < std::size(units) && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, units[unit]);
}

/// A share as percent.
[[nodiscard]] inline std::string percent_text(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.0f}", share * 100);
}

}  // namespace pgas::perf
