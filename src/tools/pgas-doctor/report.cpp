#include "tools/pgas-doctor/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "pgas/error.hpp"
#include "tools/common/text.hpp"
#include "tools/common/tool.hpp"

namespace pgas::doctor {

namespace {

using tools::lines_of;

constexpr std::size_t verdict_width = 9;
constexpr std::size_t name_width = 19;
constexpr std::size_t least_width = 60;
constexpr int schema = 1;

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::string_view colour_of(verdict is) {
  switch (is) {
    case verdict::ok: return "\033[32m";
    case verdict::unknown: return "\033[36m";
    case verdict::slow: return "\033[33m";
    case verdict::fails: break;
  }
  return "\033[1;31m";
}

void add_part(std::string& into, std::string_view label, const std::string& text, std::size_t width) {
  const std::size_t indent = verdict_width + name_width;
  bool first = true;
  const std::size_t room = width - indent - label.size();
  for (const std::string& line : lines_of(one_line(text), room, room)) {
    into += fmt::format("{:{}}{:{}}{}\n", "", indent, first ? label : "", label.size(), line);
    first = false;
  }
}

std::size_t count(const std::vector<row>& rows, verdict is) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [is](const row& each) { return each.is == is; }));
}

std::string names(const std::vector<row>& rows, verdict is) {
  std::vector<std::string> found;
  for (const row& each : rows)
    if (each.is == is && std::ranges::find(found, each.name) == found.end()) found.push_back(each.name);
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string head(const subject& what) {
  const std::string name = fmt::format("pgas-doctor {}: ", DOCTOR_VERSION);
  if (what.n_pes == 0) return name + "this process alone";
  return name + fmt::format("{} PE{} on {} host{}, {}", what.n_pes, what.n_pes == 1 ? "" : "s", what.hosts,
                            what.hosts == 1 ? "" : "s", what.started);
}

std::string conclusion(const std::vector<row>& rows) {
  std::string text = fmt::format("{} ok", count(rows, verdict::ok));
  for (const verdict is : {verdict::unknown, verdict::slow, verdict::fails})
    if (const std::size_t n = count(rows, is); n > 0) text += fmt::format(", {} {}", n, word_of(is));
  switch (worst_of(rows)) {
    case verdict::fails:
      return text + fmt::format(". Programs started like this fail: {}.", names(rows, verdict::fails));
    case verdict::slow:
      return text +
             fmt::format(". Programs started like this run, slower than they could: {}.", names(rows, verdict::slow));
    default: return text + ". Programs started like this run.";
  }
}

look look_of_terminal() {
  look how;
  how.width = std::clamp(tools::columns_or(how.width), least_width, how.width);
  how.colour = tools::wants_colour();
  return how;
}

}  // namespace

std::string table_of(const subject& what, const std::vector<row>& rows, const look& how) {
  std::string text;
  for (const std::string& line : lines_of(one_line(head(what)), how.width, how.width)) text += line + "\n";
  const std::size_t room = how.width - verdict_width - name_width;
  for (const row& each : rows) {
    const std::string found =
        one_line(each.pes.empty() ? each.found : fmt::format("{}: {}", name_pes(each.pes), each.found));
    const std::string_view word = word_of(each.is);
    text += how.colour ? fmt::format("{}{:<{}}\033[0m", colour_of(each.is), word, verdict_width)
                       : fmt::format("{:<{}}", word, verdict_width);
    text += fmt::format("{:<{}}", each.name, name_width);
    bool first = true;
    for (const std::string& line : lines_of(found, room, room)) {
      text += fmt::format("{:{}}{}\n", "", first ? 0 : verdict_width + name_width, line);
      first = false;
    }
    if (first) text += '\n';
    add_part(text, "means: ", each.means, how.width);
    add_part(text, "fix:   ", each.fix, how.width);
  }
  for (const std::string& line : lines_of(conclusion(rows), how.width, how.width)) text += line + "\n";
  return text;
}

std::string document_of(const subject& what, const std::vector<row>& rows) {
  nlohmann::ordered_json document;
  document["schema"] = schema;
  document["pgas"] = DOCTOR_VERSION;
  document["verdict"] = word_of(worst_of(rows));
  document["pes"] = what.n_pes;
  document["hosts"] = what.hosts;
  document["started"] = what.started;
  document["rows"] = nlohmann::ordered_json::array();
  for (const row& each : rows)
    document["rows"].push_back({{"name", each.name},
                                {"verdict", word_of(each.is)},
                                {"pes", each.pes},
                                {"found", each.found},
                                {"means", each.means},
                                {"fix", each.fix}});
  document["pairs"] = nlohmann::ordered_json::array();
  for (const pair_route& each : what.pairs)
    document["pairs"].push_back({{"from", each.from},
                                 {"to", each.to},
                                 {"direct", each.direct},
                                 {"route", each.route},
                                 {"lanes", each.lanes},
                                 {"gigabytes_per_second", each.gigabytes_per_second}});
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void report(const request& how, const subject& what, const std::vector<row>& rows) {
  if (how.json) {
    if (const std::string why = tools::write_output(*how.json, document_of(what, rows)); !why.empty())
      fmt::print(stderr, "pgas-doctor: {}\n", why);
    if (*how.json == "-") return;
  }
  fmt::print("{}", table_of(what, rows, look_of_terminal()));
  std::fflush(stdout);
}

void complain(const subject& what, const std::vector<row>& rows) {
  for (const row& each : rows) {
    if (each.is != verdict::fails) continue;
    fmt::print(stderr, "pgas-doctor: PE {}: {} fails: {}; {}\n", what.pe, each.name, one_line(each.found), each.fix);
  }
}

progress::progress() : terminal_(tools::is_terminal(STDERR_FILENO)) {}

void progress::show(const std::string& step) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{} ...", step);
  std::fflush(stderr);
  shown_ = true;
}

void progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace pgas::doctor
