/// @file
/// A map as a picture: a square for each pair, as SVG, and a page with it and the words.
#pragma once

#include <string>
#include <vector>

#include "map/compare_maps.hpp"
#include "map/outliers.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

/// Text of any kind inside XML: markup is escaped, control characters are left out.
[[nodiscard]] std::string xml_text(std::string_view text);

/// The squares of one map, as SVG elements in `width` x `height` units: rows are the PEs that send, columns those that
/// receive; from the worst (pale) to the best (dark), outliers framed in red. Up to some 20 PEs the figures stand
/// inside. @param outliers those of this map count
[[nodiscard]] std::string heat_panel(const pair_map& map, const std::vector<outlier>& outliers, double width,
                                     double height);

/// All maps as one SVG document.
[[nodiscard]] std::string svg_of(const world_map& map);

/// All of it as one HTML page that needs nothing else and is well-formed XML. @param against what it was compared with,
/// or null
[[nodiscard]] std::string html_of(const world_map& map, const map_comparison* against);

}  // namespace pgas::perf
