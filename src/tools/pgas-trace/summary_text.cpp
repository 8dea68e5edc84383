#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/common/text.hpp"
#include "tools/pgas-trace/summary.hpp"

namespace pgas_trace {

namespace {

using nlohmann::json;

constexpr std::size_t most_rows = 10;

double ms_of(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string pe_text(std::int32_t pe) { return pe < 0 ? "not known" : fmt::format("PE {}", pe); }

/// The entries in the order of their times, the longest first.
template <class Map>
std::vector<std::pair<typename Map::key_type, total>> by_time(const Map& from) {
  std::vector<std::pair<typename Map::key_type, total>> all(from.begin(), from.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return all;
}

std::string rest_of(std::size_t rows) {
  return rows > most_rows ? fmt::format("  and {} more (--json has all)\n", rows - most_rows) : "";
}

/// The sum of the parts of a path: the work of each PE, and the transfers from one PE to another.
std::map<std::pair<std::int32_t, std::int32_t>, total> parts_of(const std::vector<path_step>& path) {
  std::map<std::pair<std::int32_t, std::int32_t>, total> parts;
  for (const path_step& one : path) {
    pgas::trace::event_facts facts;
    facts.begin = one.begin;
    facts.end = one.end;
    parts[{one.from, one.pe}].add(facts);
  }
  return parts;
}

std::string path_text(const summary& of) {
  const std::int64_t lasted = of.iteration.end - of.iteration.begin;
  std::string text = fmt::format("\nCritical path of the last iteration, {:.3f} ms\n", ms_of(lasted));
  for (const auto& [key, part] : by_time(parts_of(of.path))) {
    const auto [from, pe] = key;
    text += fmt::format("  {:>10.3f} ms {:>5.1f} %  {}\n", ms_of(part.ns),
                        lasted > 0 ? 100.0 * static_cast<double>(part.ns) / static_cast<double>(lasted) : 0.0,
                        from < 0 ? fmt::format("PE {} works", pe)
                                 : fmt::format("PE {} goes on after PE {}, {} times", pe, from, part.count));
  }
  return text;
}

json json_of(const total& of) {
  return {{"count", of.count}, {"bytes", of.bytes}, {"ms", ms_of(of.ns)}, {"longest_ms", ms_of(of.longest_ns)}};
}

}  // namespace

std::string text_of(const summary& of) {
  std::string text = fmt::format("job {}: {} PE{}, {:.3f} ms; clocks differ by {:.3f} ms at most\n", of.job, of.pes,
                                 of.pes == 1 ? "" : "s", ms_of(of.ns), ms_of(of.clock_error));
  text += fmt::format("{} signals, {} arrows to waits, {} signals that no wait saw\n", of.found.signals,
                      of.found.all.size(), of.found.unseen);
  if (of.found.guessed != 0)
    text += fmt::format("{} arrows are as the times tell: values of words do not\n", of.found.guessed);
  for (const std::string& remark : of.remarks) text += pgas::tools::wrapped(remark, pgas::tools::usual_width, 2) + "\n";

  text += fmt::format("\nOperations\n  {:<8} {:<8} {:<8} {:>10} {:>16} {:>12}\n", "by", "route", "kind", "count",
                      "bytes", "ms");
  for (const auto& [key, one] : of.operations) {
    const auto& [by, route, kind] = key;
    text += fmt::format("  {:<8} {:<8} {:<8} {:>10} {:>16} {:>12.3f}\n", by, route, kind, one.count, one.bytes,
                        ms_of(one.ns));
  }

  text += fmt::format("\nTime in waits\n  {:<8} {:<10} {:>10} {:>12} {:>12}\n", "PE", "for", "count", "ms", "longest");
  const auto waits = by_time(of.waits);
  for (std::size_t i = 0; i < std::min(waits.size(), most_rows); ++i) {
    const auto& [key, one] = waits[i];
    text += fmt::format("  {:<8} {:<10} {:>10} {:>12.3f} {:>12.3f}\n", pe_text(key.first), pe_text(key.second),
                        one.count, ms_of(one.ns), ms_of(one.longest_ns));
  }
  text += rest_of(waits.size());

  text += fmt::format("\nSlowest pairs\n  {:<8} {:<8} {:>10} {:>16} {:>12} {:>12}\n", "from", "to", "count", "bytes",
                      "ms", "mean us");
  const auto pairs = by_time(of.pairs);
  for (std::size_t i = 0; i < std::min(pairs.size(), most_rows); ++i) {
    const auto& [key, one] = pairs[i];
    text += fmt::format("  {:<8} {:<8} {:>10} {:>16} {:>12.3f} {:>12.3f}\n", pe_text(key.first), pe_text(key.second),
                        one.count, one.bytes, ms_of(one.ns), ms_of(one.ns) * 1e3 / static_cast<double>(one.count));
  }
  text += rest_of(pairs.size());

  text += fmt::format("\nHost calls\n  {:<40} {:>10} {:>12} {:>12}\n", "call", "count", "ms", "longest");
  const auto calls = by_time(of.calls);
  for (std::size_t i = 0; i < std::min(calls.size(), most_rows); ++i)
    text += fmt::format("  {:<40} {:>10} {:>12.3f} {:>12.3f}\n", calls[i].first, calls[i].second.count,
                        ms_of(calls[i].second.ns), ms_of(calls[i].second.longest_ns));
  text += rest_of(calls.size());
  return text + path_text(of);
}

std::string json_of(const summary& of) {
  json made = {{"job", of.job},
               {"pes", of.pes},
               {"ms", ms_of(of.ns)},
               {"clock_error_ns", of.clock_error},
               {"lost", of.lost},
               {"remarks", of.remarks},
               {"signals", of.found.signals},
               {"arrows", of.found.all.size()},
               {"unseen", of.found.unseen},
               {"guessed", of.found.guessed}};
  for (const char* const list : {"operations", "waits", "pairs", "calls"}) made[list] = json::array();
  for (const auto& [key, one] : of.operations) {
    json entry = json_of(one);
    entry["by"] = std::get<0>(key);
    entry["route"] = std::get<1>(key);
    entry["kind"] = std::get<2>(key);
    made["operations"].push_back(std::move(entry));
  }
  for (const auto& [key, one] : by_time(of.waits)) {
    json entry = json_of(one);
    entry["pe"] = key.first;
    entry["peer"] = key.second;
    made["waits"].push_back(std::move(entry));
  }
  for (const auto& [key, one] : by_time(of.pairs)) {
    json entry = json_of(one);
    entry["from"] = key.first;
    entry["to"] = key.second;
    made["pairs"].push_back(std::move(entry));
  }
  for (const auto& [name, one] : by_time(of.calls)) {
    json entry = json_of(one);
    entry["name"] = name;
    made["calls"].push_back(std::move(entry));
  }
  json steps = json::array();
  for (const path_step& one : of.path)
    steps.push_back({{"pe", one.pe},
                     {"from", one.from},
                     {"after_ms", ms_of(one.begin - of.iteration.begin)},
                     {"ms", ms_of(one.end - one.begin)},
                     {"what", one.what}});
  made["critical_path"] = {{"ms", ms_of(of.iteration.end - of.iteration.begin)}, {"steps", std::move(steps)}};
  return made.dump(2, ' ', false, json::error_handler_t::replace);  // a name may be invalid UTF-8
}

}  // namespace pgas_trace
