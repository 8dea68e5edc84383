/// @file
/// What a time line says in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/pgas-trace/arrows.hpp"
#include "tools/pgas-trace/critical_path.hpp"
#include "tools/pgas-trace/join_files.hpp"

namespace pgas_trace {

/// Events of one kind together.
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
  std::int64_t ns = 0;           ///< from the first event to the last
  std::int64_t clock_error = 0;  ///< the largest of all PEs
  std::uint64_t lost = 0;
  std::vector<std::string> remarks;
  arrows found;

  /// By caller, route and kind: "host", "direct", "put".
  std::map<std::tuple<std::string, std::string, std::string>, total> operations;
  /// By the PE that waited and the one for which it did; -1: not known. Waits and collectives.
  std::map<std::pair<std::int32_t, std::int32_t>, total> waits;
  /// Operations by initiator and target, without those of proxies.
  std::map<std::pair<std::int32_t, std::int32_t>, total> pairs;
  /// Host calls by name, those inside of others, too.
  std::map<std::string, total> calls;

  stretch iteration;
  std::vector<path_step> path;
};

[[nodiscard]] summary summarize(const joined& from);

/// For people: tables of at most 100 columns.
[[nodiscard]] std::string text_of(const summary& of);
/// For programs: docs/trace.md has the names.
[[nodiscard]] std::string json_of(const summary& of);

}  // namespace pgas_trace
