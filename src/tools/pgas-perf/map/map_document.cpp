#include "map/map_document.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "map/map_summary.hpp"
#include "map/outliers.hpp"
#include "pgas/error.hpp"

namespace pgas::perf {

namespace {

using json = nlohmann::ordered_json;

/// A figure that was not measured is null, because JSON has no such number.
json number(double value) { return std::isnan(value) ? json() : json(value); }
double figure(const json& from) { return from.is_null() ? unmeasured : from.get<double>(); }

json figures(const square<double>& values) {
  json rows = json::array();
  for (const auto& line : values) {
    json& row = rows.emplace_back(json::array());
    for (const double value : line) row.push_back(number(value));
  }
  return rows;
}

/// *Errors* std::invalid_argument if the array is not n x n.
template <class T, class F>
square<T> read_square(const json& from, std::size_t n, const F& read) {
  square<T> found;
  for (const json& line : from) {
    auto& row = found.emplace_back();
    for (const json& value : line) row.push_back(read(value));
    if (row.size() != n) throw std::invalid_argument("a line has not one value for each PE");
  }
  if (found.size() != n) throw std::invalid_argument("there is not one line for each PE");
  return found;
}

json outliers(const world_map& map) {
  json list = json::array();
  for (const outlier& slow : find_outliers(map)) {
    const auto pe = [](int number) { return number == outlier::any ? json() : json(number); };
    list.push_back({{"measure", slow.measure},
                    {"pattern", slow.in},
                    {"from", pe(slow.from)},
                    {"to", pe(slow.to)},
                    {"figure", slow.figure},
                    {"unit", slow.unit},
                    {"ratio", slow.ratio},
                    {"text", text_of(slow)}});
  }
  return list;
}

json summary(const world_map& map) {
  json lines = json::array();
  for (const summary_line& each : summary_of(map))
    lines.push_back({{"measure", each.measure},
                     {"pattern", each.in},
                     {"route", each.kind},
                     {"pairs", each.pairs},
                     {"lowest", number(each.lowest)},
                     {"median", number(each.median)},
                     {"highest", number(each.highest)},
                     {"unit", each.unit},
                     {"peak_percent", number(100 * each.share)}});
  return lines;
}

json remarks(const world_map& map) {
  json texts = json::array();
  if (const std::string complaint = complaint_line(map); !complaint.empty()) texts.push_back(complaint);
  for (const std::string& line : peak_lines(map)) texts.push_back(line);
  return texts;
}

json comparison(const map_comparison& comparison) {
  json pairs = json::array();
  for (const pair_change& each : comparison.pairs)
    pairs.push_back({{"measure", each.measure},
                     {"pattern", each.in},
                     {"from", each.from},
                     {"to", each.to},
                     {"before", each.before},
                     {"now", each.now},
                     {"slower_percent", 100 * each.slower}});
  return {{"tolerance_percent", 100 * comparison.tolerance}, {"slower_pairs", comparison.too_slow()}, {"pairs", pairs}};
}

world_map read(const json& document) {
  if (document.at("format") != map_format)
    throw std::invalid_argument(fmt::format("its format is not '{}'", map_format));
  world_map map;
  map.version = document.at("pgas");
  map.heap = document.at("heap");
  for (const json& pe : document.at("pes")) map.pes.push_back({pe.at("host"), pe.at("device")});
  map.bytes = document.at("bytes");
  map.quick = document.at("quick");
  map.seconds = document.at("seconds");
  map.note = document.at("note");
  const auto text = [](const json& value) { return value.get<std::string>(); };
  map.kinds = read_square<std::string>(document.at("routes"), map.size(), text);
  map.peaks = read_square<double>(document.at("link_peaks"), map.size(), figure);
  map.links = read_square<std::string>(document.at("links"), map.size(), text);
  for (const json& each : document.at("maps"))
    map.maps.push_back({each.at("measure"), each.at("pattern"), each.at("unit"), each.at("better") == "more",
                        read_square<double>(each.at("figures"), map.size(), figure)});
  for (const json& rate : document.at("all_pairs")) map.all_pairs.push_back(figure(rate));
  map.wrong = document.at("wrong");
  map.measured_steps = document.at("measured_steps");
  map.skipped_steps = document.at("skipped_steps");
  return map;
}

}  // namespace

std::string document_of(const world_map& map, const map_comparison* against) {
  json document;
  document["format"] = map_format;
  document["title"] = world_line(map);
  document["pgas"] = map.version;
  document["heap"] = map.heap;
  document["pes"] = json::array();
  for (const mapped_pe& pe : map.pes) document["pes"].push_back({{"host", pe.host}, {"device", pe.device}});
  document["bytes"] = map.bytes;
  document["quick"] = map.quick;
  document["seconds"] = map.seconds;
  document["note"] = map.note;
  document["routes"] = map.kinds;
  document["link_peaks"] = figures(map.peaks);
  document["links"] = map.links;
  document["maps"] = json::array();
  for (const pair_map& each : map.maps)
    document["maps"].push_back({{"measure", each.measure},
                                {"pattern", each.in},
                                {"unit", each.unit},
                                {"better", each.more_is_better ? "more" : "less"},
                                {"figures", figures(each.figures)}});
  document["all_pairs"] = json::array();
  for (const double rate : map.all_pairs) document["all_pairs"].push_back(number(rate));
  document["outliers"] = outliers(map);
  document["summary"] = summary(map);
  document["remarks"] = remarks(map);
  document["wrong"] = map.wrong;
  document["measured_steps"] = map.measured_steps;
  document["skipped_steps"] = map.skipped_steps;
  if (against != nullptr) document["comparison"] = comparison(*against);
  std::string text = "{\n";
  for (const auto& [key, value] : document.items())
    text += fmt::format("{}\"{}\": {}", text.size() == 2 ? "" : ",\n", key,
                        value.dump(-1, ' ', false, json::error_handler_t::replace));
  return text + "\n}\n";
}

world_map read_document(const std::string& text, const std::string& name) {
  try {
    return read(json::parse(text));
  } catch (const std::exception& wrong) {
    throw error(code::invalid_argument, fmt::format("{} is no map that pgas-perf saved: {}", name, wrong.what()));
  }
}

world_map load_map(const std::string& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw error(code::system, fmt::format("{} cannot be read: {}", file, std::strerror(errno)));
  return read_document(text, file);
}

}  // namespace pgas::perf
