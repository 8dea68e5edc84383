/// @file
/// A summary of a trace in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/pgas-trace/arrows.hpp"
#include "tools/pgas-trace/critical_path.hpp"
#include "tools/pgas-trace/merge_files.hpp"

namespace pgas_trace {

/// The sum of the events of one kind.
struct total {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;
  std::int64_t longest_ns = 0;

  void add(const pgas::trace::event_facts& facts) {
    const std::int64_t lasted = facts.end - facts.begin;
    ++count;
    bytes += facts.bytes;
    ns += lasted;
    if (lasted > longest_ns) longest_ns = lasted;
  }
};

struct summary {
  std::string job;
  std::int32_t pes = 0;
  std::int64_t ns = 0;           ///< the time from the first to the last event
  std::int64_t clock_error = 0;  ///< the largest clock error of any PE
  std::uint64_t lost = 0;
  std::vector<std::string> remarks;
  arrows found;

  /// Operations by caller, route and kind, such as "host", "direct", "put".
  std::map<std::tuple<std::string, std::string, std::string>, total> operations;
  /// Waits and collectives. The key is the pair of the PE that waited and the PE for which it waited, or -1 if that PE
  /// is not known.
  std::map<std::pair<std::int32_t, std::int32_t>, total> waits;
  /// Operations by initiator and target, without the operations of proxies.
  std::map<std::pair<std::int32_t, std::int32_t>, total> pairs;
  /// Host calls by name, including calls inside other calls.
  std::map<std::string, total> calls;

  stretch iteration;
  std::vector<path_step> path;
};

[[nodiscard]] summary summarize(const merged_trace& from);

/// The summary as tables of at most 100 columns, for people.
[[nodiscard]] std::string text_of(const summary& totals);
/// The summary as JSON, for programs. docs/trace.md lists the names.
[[nodiscard]] std::string json_of(const summary& totals);

}  // namespace pgas_trace
