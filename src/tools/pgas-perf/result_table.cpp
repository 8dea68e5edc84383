#include "result_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "pgas/error.hpp"
#include "tools/common/text.hpp"
#include "tools/common/tool.hpp"

namespace pgas::perf {

namespace {

/// A line has 100 columns, unless a size has ten digits. The grid is the number of blocks and the number of threads in
/// each block.
constexpr auto line_format = "{:<24} {:<6} {:>8} {:>9} {:>7} {:>8} {:>8} {:>8} {:<5} {}\n";
constexpr auto markdown_format = "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n";

std::string size_text(std::size_t bytes) { return bytes == 0 ? "-" : std::to_string(bytes); }

/// At most about four digits, because further digits are noise.
std::string number(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string verdict(const result& found) {
  return !found.checked ? "-" : found.wrong == 0 ? "ok" : fmt::format("{} WRONG", found.wrong);
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
  for (const row& each : rows) {
    const std::string head = fmt::format("{:<24} {:<6} ", each.name, unit_of(each));
    text += head + tools::wrapped(each.about, tools::usual_width, head.size(), head.size()) + '\n';
  }
  return text;
}

table::table(const options& how, world& w, std::size_t points)
    : how_(how), points_(points), terminal_(tools::is_terminal(STDERR_FILENO)) {
  if (how.json == "-") return;
  fmt::print("{}{}\n{}", how.markdown ? "" : "# ", head(w), how.markdown ? "\n" : "");
  if (how.markdown) {
    fmt::print(markdown_format, "row", "scope", "blocks", "threads", "bytes", "iterations", "median", "lowest",
               "highest", "unit", "data");
    fmt::print("|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n");
  } else {
    fmt::print(line_format, "row", "scope", "grid", "bytes", "iters", "median", "lowest", "highest", "unit", "data");
  }
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
  const row& r = *found.benchmark;
  const bool several = last_ != nullptr && last_ != &r && (last_->most_bytes != 0 || r.most_bytes != 0);
  if (!how_.markdown && several) fmt::print("\n");
  last_ = &r;
  const std::string_view by = r.by == shape::host ? "host" : name_of(found.at.by);
  if (how_.markdown)
    fmt::print(markdown_format, r.name, by, found.at.blocks, found.at.threads, size_text(found.at.bytes),
               found.iterations, number(found.median()), number(found.least()), number(found.most()), unit_of(r),
               verdict(found));
  else
    fmt::print(line_format, r.name, by, fmt::format("{}x{}", found.at.blocks, found.at.threads),
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
    document["results"].push_back({{"row", each.benchmark->name},
                                   {"scope", each.benchmark->by == shape::host ? "host" : name_of(each.at.by)},
                                   {"blocks", each.at.blocks},
                                   {"threads", each.at.threads},
                                   {"bytes", each.at.bytes},
                                   {"iterations", each.iterations},
                                   {"unit", unit_of(*each.benchmark)},
                                   {"median", each.median()},
                                   {"lowest", each.least()},
                                   {"highest", each.most()},
                                   {"runs", each.samples},
                                   {"checked", each.checked},
                                   {"wrong", each.wrong}});
  }
  if (const std::string why = tools::write_output(how.json, document.dump(1) + '\n'); !why.empty())
    throw error(code::system, why);
}

}  // namespace pgas::perf
