/// @file
/// A whole trace, and its form in files: Perfetto's trace format, which ui.perfetto.dev shows.
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
  std::vector<std::uint64_t> arrows_out;  ///< each number stands for one arrow, which begins at one event
  std::vector<std::uint64_t> arrows_in;   ///< and ends at the end of another
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
  std::string job;         ///< differs between jobs
  std::int64_t begin = 0;  ///< of recording, on the clock of PE 0 as all times
  std::int64_t end = 0;
  std::int64_t clock_error = 0;  ///< the most nanoseconds by which times differ from the clock of PE 0; -1: not known
  std::uint64_t lost = 0;        ///< events for which there was no room
  std::vector<track> tracks;
};

struct document {
  std::vector<pe_trace> pes;
};

/// The file. Events of a track that overlap without one being inside the other get tracks of their own.
[[nodiscard]] std::string write_perfetto(const document& of);

/// *Errors* std::runtime_error where it is no file of write_perfetto().
[[nodiscard]] document read_perfetto(std::string_view file);

}  // namespace pgas::trace
