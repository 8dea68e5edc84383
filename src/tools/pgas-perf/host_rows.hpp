/// @file
/// Rows that the host measures: its own calls, calls on a stream, joining, allocating, and what memory it all takes.
#pragma once

#include <vector>

#include "row.hpp"

namespace pgas::perf {

[[nodiscard]] std::vector<row> host_rows();

}  // namespace pgas::perf
