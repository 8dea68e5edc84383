/// @file
/// A picture of the histories of residuals: iterations to the right, powers of ten upwards.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace examples {

struct residual_history {
  std::string name;
  std::vector<double> relative;  ///< the relative residuals of iteration 0, 1, and so on
};

/// Writes the file. Returns false on failure.
[[nodiscard]] inline bool write_svg(const std::string& file, const std::vector<residual_history>& histories) {
  constexpr double width = 640, height = 400, left = 60, top = 20, across = 560, down = 330;
  constexpr const char* colours[] = {"#1b6ca8", "#d1495b", "#3a7d44"};
  double lowest = -1;
  std::size_t longest = 2;
  for (const auto& each : histories) {
    longest = std::max(longest, each.relative.size());
    for (const double r : each.relative) lowest = std::min(lowest, r > 0 ? std::floor(std::log10(r)) : lowest);
  }
  std::FILE* const out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return false;
  std::fprintf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, height);
  for (int power = static_cast<int>(lowest); power <= 1; ++power) {
    const double y = top + down * (power - 1) / (lowest - 1);
    std::fprintf(out,
                 "<path d=\"M%g %gh%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%g\" text-anchor=\"end\">1e%d</text>\n",
                 left, y, across, left - 6, y + 4, power);
  }
  std::fprintf(out,
               "<text x=\"%g\" y=\"%g\">0</text><text x=\"%g\" y=\"%g\" text-anchor=\"end\">%zu iterations</text>\n",
               left, top + down + 18, left + across, top + down + 18, longest - 1);
  for (std::size_t h = 0; h < histories.size(); ++h) {
    const char* const colour = colours[h % 3];
    std::fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour);
    for (std::size_t i = 0; i < histories[h].relative.size(); ++i) {
      const double power = std::log10(std::max(histories[h].relative[i], std::pow(10.0, lowest)));
      std::fprintf(out, "%.2f,%.2f ", left + across * static_cast<double>(i) / static_cast<double>(longest - 1),
                   top + down * (power - 1) / (lowest - 1));
    }
    std::fprintf(out, "\"/>\n<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n", left + 380,
                 top + 20 + 16 * static_cast<double>(h), colour, histories[h].name.c_str());
  }
  std::fprintf(out, "<text x=\"%g\" y=\"%g\">residual / right-hand side</text>\n</svg>\n", left + 6, top + 14);
  return std::fclose(out) == 0;
}

}  // namespace examples
