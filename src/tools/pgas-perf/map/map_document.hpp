/// @file
/// A map as a JSON document, which --save writes and --compare reads. docs/perf-map.md has the schema. Each member is
/// on one line, because a document with one figure per line would be too long for many PEs.
#pragma once

#include <string>

#include "map/compare_maps.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

/// The value of the document's "format". A document with another value has another schema.
inline constexpr const char* map_format = "pgas-perf map 1";

/// The document. Invalid UTF-8 in names is replaced.
/// @param against the comparison with another map, or null
[[nodiscard]] std::string document_of(const world_map& map, const map_comparison* against = nullptr);

/// Reads the map in a document. `name` names the text in errors. *Errors* invalid_argument with the reason.
[[nodiscard]] world_map read_document(const std::string& text, const std::string& name);
/// Reads the map in a file. *Errors* as read_document(); also system if the file cannot be read.
[[nodiscard]] world_map load_map(const std::string& file);

}  // namespace pgas::perf
