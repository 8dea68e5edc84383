/// @file
/// A map as a JSON document: what --save writes and --compare reads. docs/perf-map.md has the schema. Each of its
/// members has a line of its own, as a figure for each pair of many PEs would have as many lines otherwise.
#pragma once

#include <string>

#include "map/compare_maps.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

/// The value of the document's "format"; another one is another schema.
inline constexpr const char* map_format = "pgas-perf map 1";

/// The document. Names that are no UTF-8 have replacement characters.
/// @param against what it was compared with, or null
[[nodiscard]] std::string document_of(const world_map& map, const map_comparison* against = nullptr);

/// The map in a document. *Errors* invalid_argument, saying what is wrong with the text that is called `name`.
[[nodiscard]] world_map read_document(const std::string& text, const std::string& name);
/// The same from a file. *Errors* also system if it cannot be read.
[[nodiscard]] world_map load_map(const std::string& file);

}  // namespace pgas::perf
