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
  for (const path_step& step : path) {
    pgas::trace::event_facts facts;
    facts.begin = step.begin;
    facts.end = step.end;
    parts[{step.from, step.pe}].add(facts);
  }
  return parts;
}

std::string path_text(const summary& totals) {
  const std::int64_t lasted = totals.iteration.end - totals.iteration.begin;
  std::string text = fmt::format("\nCritical path of the last iteration, {:.3f} ms\n", ms_of(lasted));
  for (const auto& [key, part] : by_time(parts_of(totals.path))) {
    const auto [from, pe] = key;
    text += fmt::format("  {:>10.3f} ms {:>5.1f} %  {}\n", ms_of(part.ns),
                        lasted > 0 ? 100.0 * static_cast<double>(part.ns) / static_cast<double>(lasted) : 0.0,
                        from < 0 ? fmt::format("PE {} works", pe)
                                 : fmt::format("PE {} goes on after PE {}, {} times", pe, from, part.count));
  }
  return text;
}

json json_of(const total& sum) {
  return {{"count", sum.count}, {"bytes", sum.bytes}, {"ms", ms_of(sum.ns)}, {"longest_ms", ms_of(sum.longest_ns)}};
}

}  // namespace

std::string text_of(const summary& totals) {
  std::string text = fmt::format("job {}: {} PE{}, {:.3f} ms; clocks differ by {:.3f} ms at most\n", totals.job,
                                 totals.pes, totals.pes == 1 ? "" : "s", ms_of(totals.ns), ms_of(totals.clock_error));
  text += fmt::format("{} signals, {} arrows to waits, {} signals that no wait saw\n", totals.found.signals,
                      totals.found.all.size(), totals.found.unseen);
  if (totals.found.guessed != 0)
    text += fmt::format("{} arrows are as the times tell: values of words do not\n", totals.found.guessed);
  for (const std::string& remark : totals.remarks)
    text += pgas::tools::wrapped(remark, pgas::tools::usual_width, 2) + "\n";

  text += fmt::format("\nOperations\n  {:<8} {:<8} {:<8} {:>10} {:>16} {:>12}\n", "by", "route", "kind", "count",
                      "bytes", "ms");
  for (const auto& [key, sum] : totals.operations) {
    const auto& [by, route, kind] = key;
    text += fmt::format("  {:<8} {:<8} {:<8} {:>10} {:>16} {:>12.3f}\n", by, route, kind, sum.count, sum.bytes,
                        ms_of(sum.ns));
  }

  text += fmt::format("\nTime in waits\n  {:<8} {:<10} {:>10} {:>12} {:>12}\n", "PE", "for", "count", "ms", "longest");
  const auto waits = by_time(totals.waits);
  for (std::size_t i = 0; i < std::min(waits.size(), most_rows); ++i) {
    const auto& [key, sum] = waits[i];
    text += fmt::format("  {:<8} {:<10} {:>10} {:>12.3f} {:>12.3f}\n", pe_text(key.first), pe_text(key.second),
                        sum.count, ms_of(sum.ns), ms_of(sum.longest_ns));
  }
  text += rest_of(waits.size());

  text += fmt::format("\nSlowest pairs\n  {:<8} {:<8} {:>10} {:>16} {:>12} {:>12}\n", "from", "to", "count", "bytes",
                      "ms", "mean us");
  const auto pairs = by_time(totals.pairs);
  for (std::size_t i = 0; i < std::min(pairs.size(), most_rows); ++i) {
    const auto& [key, sum] = pairs[i];
    text += fmt::format("  {:<8} {:<8} {:>10} {:>16} {:>12.3f} {:>12.3f}\n", pe_text(key.first), pe_text(key.second),
                        sum.count, sum.bytes, ms_of(sum.ns), ms_of(sum.ns) * 1e3 / static_cast<double>(sum.count));
  }
  text += rest_of(pairs.size());

  text += fmt::format("\nHost calls\n  {:<40} {:>10} {:>12} {:>12}\n", "call", "count", "ms", "longest");
  const auto calls = by_time(totals.calls);
  for (std::size_t i = 0; i < std::min(calls.size(), most_rows); ++i)
    text += fmt::format("  {:<40} {:>10} {:>12.3f} {:>12.3f}\n", calls[i].first, calls[i].second.count,
                        ms_of(calls[i].second.ns), ms_of(calls[i].second.longest_ns));
  text += rest_of(calls.size());
  return text + path_text(totals);
}

std::string json_of(const summary& totals) {
  json result = {{"job", totals.job},
                 {"pes", totals.pes},
                 {"ms", ms_of(totals.ns)},
                 {"clock_error_ns", totals.clock_error},
                 {"lost", totals.lost},
                 {"remarks", totals.remarks},
                 {"signals", totals.found.signals},
                 {"arrows", totals.found.all.size()},
                 {"unseen", totals.found.unseen},
                 {"guessed", totals.found.guessed}};
  for (const char* const list : {"operations", "waits", "pairs", "calls"}) result[list] = json::array();
  for (const auto& [key, sum] : totals.operations) {
    json entry = json_of(sum);
    entry["by"] = std::get<0>(key);
    entry["route"] = std::get<1>(key);
    entry["kind"] = std::get<2>(key);
    result["operations"].push_back(std::move(entry));
  }
  for (const auto& [key, sum] : by_time(totals.waits)) {
    json entry = json_of(sum);
    entry["pe"] = key.first;
    entry["peer"] = key.second;
    result["waits"].push_back(std::move(entry));
  }
  for (const auto& [key, sum] : by_time(totals.pairs)) {
    json entry = json_of(sum);
    entry["from"] = key.first;
    entry["to"] = key.second;
    result["pairs"].push_back(std::move(entry));
  }
  for (const auto& [name, sum] : by_time(totals.calls)) {
    json entry = json_of(sum);
    entry["name"] = name;
    result["calls"].push_back(std::move(entry));
  }
  json steps = json::array();
  for (const path_step& step : totals.path)
    steps.push_back({{"pe", step.pe},
                     {"from", step.from},
                     {"after_ms", ms_of(step.begin - totals.iteration.begin)},
                     {"ms", ms_of(step.end - step.begin)},
                     {"what", step.what}});
  result["critical_path"] = {{"ms", ms_of(totals.iteration.end - totals.iteration.begin)}, {"steps", std::move(steps)}};
  return result.dump(2, ' ', false, json::error_handler_t::replace);  // a name can be invalid UTF-8
}

}  // namespace pgas_trace
