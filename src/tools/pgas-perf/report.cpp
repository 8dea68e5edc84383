#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "pgas/error.hpp"

namespace pgas::perf {

namespace {

constexpr auto line_format = "{:<24} {:<6} {:>6} {:>7} {:>10} {:>10} {:>12} {:>12} {:>12}  {:<5}  {}\n";
constexpr auto markdown_format = "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n";

std::string size_text(std::size_t bytes) { return bytes == 0 ? "-" : std::to_string(bytes); }

/// Four digits: more are noise.
std::string number(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string verdict(const result& found) {
  return !found.checked ? "not checked" : found.wrong == 0 ? "ok" : fmt::format("{} WRONG", found.wrong);
}

std::string head(world& w) {
  std::set<std::string> hosts;
  for (int pe = 0; pe < w.n_pes(); ++pe) hosts.insert(w.pe(pe).host);
  return fmt::format("pgas-perf {}: {} PEs on {} host{}, {}; PE 0 reaches PE {}: {}", PGAS_PERF_VERSION, w.n_pes(),
                     hosts.size(), hosts.size() == 1 ? "" : "s", w.pe(0).device, w.n_pes() - 1,
                     w.n_pes() == 1 ? "itself" : w.pe(w.n_pes() - 1).route);
}

}  // namespace

std::string list_of(const std::vector<row>& rows) {
  std::string text;
  for (const row& each : rows) text += fmt::format("{:<24} {:<6} {}\n", each.name, unit_of(each), each.about);
  return text;
}

table::table(const options& how, world& w, std::size_t points)
    : how_(how), points_(points), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (how.json == "-") return;
  fmt::print("{}{}\n{}", how.markdown ? "" : "# ", head(w), how.markdown ? "\n" : "");
  const auto titles = [](auto format) {
    fmt::print(fmt::runtime(format), "row", "scope", "blocks", "threads", "bytes", "iterations", "median", "lowest",
               "highest", "unit", "data");
  };
  titles(how.markdown ? markdown_format : line_format);
  if (how.markdown) fmt::print("|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n");
  std::fflush(stdout);
}

void table::progress(const row& r, const point& at) {
  ++begun_;
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K[{}/{}] {} {} {}", begun_, points_, r.name, name_of(at.by), size_text(at.bytes));
  std::fflush(stderr);
}

void table::add(const result& found) {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  if (how_.json == "-") return;
  const row& r = *found.of;
  const bool several = last_ != nullptr && last_ != &r && (last_->most_bytes != 0 || r.most_bytes != 0);
  if (!how_.markdown && several) fmt::print("\n");
  last_ = &r;
  fmt::print(fmt::runtime(how_.markdown ? markdown_format : line_format), r.name,
             r.by == shape::host ? "host" : name_of(found.at.by), found.at.blocks, found.at.threads,
             size_text(found.at.bytes), found.iterations, number(found.median()), number(found.least()),
             number(found.most()), unit_of(r), verdict(found));
  std::fflush(stdout);
}

void write_json(const options& how, world& w, const std::vector<result>& all) {
  nlohmann::ordered_json document;
  document["pgas"] = PGAS_PERF_VERSION;
  document["heap"] = w.heap() == heap_kind::cuda ? "cuda" : "host";
  for (int pe = 0; pe < w.n_pes(); ++pe)
    document["pes"].push_back(
        {{"host", w.pe(pe).host}, {"device", w.pe(pe).device}, {"route_from_pe_0", w.pe(pe).route}});
  document["pair"] = how.pair;
  document["results"] = nlohmann::ordered_json::array();
  for (const result& each : all) {
    document["results"].push_back({{"row", each.of->name},
                                   {"scope", each.of->by == shape::host ? "host" : name_of(each.at.by)},
                                   {"blocks", each.at.blocks},
                                   {"threads", each.at.threads},
                                   {"bytes", each.at.bytes},
                                   {"iterations", each.iterations},
                                   {"unit", unit_of(*each.of)},
                                   {"median", each.median()},
                                   {"lowest", each.least()},
                                   {"highest", each.most()},
                                   {"runs", each.samples},
                                   {"checked", each.checked},
                                   {"wrong", each.wrong}});
  }
  const std::string text = document.dump(1) + '\n';
  if (how.json == "-") {
    std::cout << text << std::flush;
    return;
  }
  write_file(how.json, text);
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name);
  file << text;
  if (!file.flush()) throw error(code::system, fmt::format("{} cannot be written", name));
}

}  // namespace pgas::perf
