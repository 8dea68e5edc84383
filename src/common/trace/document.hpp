/// @file
/// A complete trace, and its form in files: Perfetto's trace format, which ui.perfetto.dev shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/trace/event.hpp"

namespace pgas::trace {

struct event {
  event_facts facts;
  std::string name;
  std::vector<std::uint64_t> arrows_out;  ///< the ids of the arrows that start at this event
  std::vector<std::uint64_t> arrows_in;   ///< the ids of the arrows that lead to the end of this event
};

/// A thread, a stream, the proxy or a part of a kernel.
struct track {
  std::string name;
  std::vector<event> events;
};

/// The records of one PE.
struct pe_trace {
  std::int32_t pe = 0;
  std::int32_t pes = 1;
  std::string host;
  std::int32_t pid = 0;
  std::string job;         ///< a value that differs between jobs
  std::int64_t begin = 0;  ///< the start of recording; all times are on the clock of PE 0
  std::int64_t end = 0;
  /// The recorded times differ from the clock of PE 0 by at most this number of nanoseconds; -1: not known.
  std::int64_t clock_error = 0;
  std::uint64_t lost = 0;  ///< the number of events that did not fit into memory
  std::vector<track> tracks;
};

struct document {
  std::vector<pe_trace> pes;
};

/// The contents of the file. If two events of a track overlap and neither of them contains the other, they are written
/// to separate tracks.
[[nodiscard]] std::string write_perfetto(const document& trace);

/// *Errors* std::runtime_error if the file is not from write_perfetto().
[[nodiscard]] document read_perfetto(std::string_view file);

}  // namespace pgas::trace
