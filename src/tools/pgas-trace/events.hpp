/// @file
/// The events of a trace as JSON, for programs and for pgas-plot.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tools/pgas-trace/merge_files.hpp"

namespace pgas_trace {

/// The events that are printed.
struct selection {
  std::vector<std::string> callers;  ///< the selected callers: host, stream, kernel, proxy; empty: all
  double from_ms = 0;                ///< the start of the selected time, measured from the first event of these callers
  double ms = std::numeric_limits<double>::infinity();
};

/// A document with the events in the selected time, in the order of PE, track and start time, and with the arrows
/// between them. docs/trace.md lists the members.
[[nodiscard]] std::string events_json(const merged_trace& from, const selection& which);

}  // namespace pgas_trace
