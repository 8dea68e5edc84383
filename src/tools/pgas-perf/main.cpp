/// @file
/// pgas-perf measures pgas on this machine, row by row: bandwidth, latency and rates of operations in kernels, on
/// streams and from the host; collectives; joining and allocating. Every PE runs the program, and PE 0 prints.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "map/map_command.hpp"
#include "measure.hpp"
#include "pgas/pgas.hpp"
#include "result_table.hpp"
#include "tools/common/tool.hpp"

namespace {

using namespace pgas::perf;

/// The command line: the options of rows, or the subcommand `map` with its own options.
struct command_line {
  options rows;
  map_options map;
  bool maps = false;
};

pgas::tools::page about() {
  return {
      .summary = "measures pgas on this machine",
      .paragraphs = {"Start it on two or more PEs (pgasrun, mpirun, srun), on the machine and with the settings of "
                     "interest. Every PE runs it; PE 0 prints. Each figure is the median of several runs, with the "
                     "lowest and the highest; data is random and checked.",
                     "docs/pgas-perf.md describes the measurements and the JSON document; docs/performance.md shows "
                     "which figures to expect."},
      .examples = {{"pgasrun -n 2 pgas-perf", "everything between two PEs of this host"},
                   {"mpirun -n 4 pgas-perf put_bw \"atomic*\" --blocks 1,8", "some rows, some shapes"},
                   {"pgasrun -n 2 pgas-perf put_bw -b 64K -e 64M -f 4 --json put.json", "some sizes, as a document"},
                   {"pgas-plot put.json", "draws the document into put.svg"}},
      .statuses = {{"0", "all measurements completed, and all data was correct"}, {"1", "a failure, or wrong data"}},
      .variables = {{"PGAS_HEAP", "host: measure the host heap even if there is a GPU"},
                    {"PGAS_HOST_BLOCK_THREADS", "threads of a block on the host heap"},
                    {"PGAS_P2P", "0: measure proxied PEs"},
                    {"PGAS_*", "the other settings, as programs read them"}},
      .see_also = {"pgas-perf-map", "pgas-plot", "pgasrun", "pgas-doctor"},
  };
}

/// Checks that the row exists, or that rows match the pattern. The description of the option contains all names, so
/// that the completion of a shell offers them.
CLI::Validator known_row() {
  std::vector<row> all = all_rows(false);  // the rows for GPUs have the same names
  std::string names;
  for (const row& each : all) names += fmt::format("{}{}", names.empty() ? "" : ",", each.name);
  return {[all = std::move(all)](std::string& pattern) {
            return std::ranges::any_of(all, [&](const row& r) { return matches(pattern, r); })
                       ? std::string()
                       : fmt::format("there is no row {}: --list names them", pattern);
          },
          '{' + names + '}'};
}

/// Reads the command line. False if the program ends here with `status`, after the reason was printed.
bool read(command_line& line, int argc, char** argv, int& status) {
  options& into = line.rows;
  CLI::App app{"", "pgas-perf"};
  const std::map<std::string, scope> scopes{{"thread", scope::thread}, {"warp", scope::warp}, {"block", scope::block}};
  app.add_option("ROW", into.rows, "the rows to measure, such as put_bw, put_* or *_pp; default: all")
      ->check(known_row());
  app.add_flag("--list", into.list, "list the rows and their meanings");
  app.add_option("-b,--minbytes", into.least_bytes, "smallest size, such as 4K (default: 8)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("-e,--maxbytes", into.most_bytes, "largest size (default: 16M)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("-f,--stepfactor", into.factor, "factor between sizes (default: 8)")
      ->type_name("FACTOR")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("-n,--iters", into.iterations, "iterations of a run (default: as many as fit into --ms)")
      ->type_name("N");
  app.add_option("-w,--warmup_iters", into.warmup, "iterations before the clock starts (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("-r,--repeats", into.repeats, "runs; the result is their median (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  app.add_option("--ms", into.milliseconds, "target time of a run (default: 10)")
      ->type_name("MILLISECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("-s,--scope", into.scopes, "thread, warp, block: some of them, with commas")
      ->type_name("LIST")
      ->delimiter(',')
      ->transform(CLI::Validator(CLI::Transformer(scopes)).description(""))
      ->transform(CLI::IsMember({"thread", "warp", "block"}));  // CLI11 runs this check before the check above
  app.add_option("--blocks", into.blocks,
                 "numbers of blocks, with commas (default: 1,4,32 on GPUs, 1 on the host heap)")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("-t,--threads", into.threads, "threads of a block")->type_name("N")->check(CLI::Range(1, 1024));
  app.add_option("--pair", into.pair, "the two PEs that point-to-point rows use (default: 0,1)")
      ->type_name("PE,PE")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::NonNegativeNumber);
  app.add_option("-c,--check", into.check, "check the data that the last run of each point left (default: 1)")
      ->type_name("BOOLEAN");
  app.add_flag("--markdown", into.markdown, "print the table as Markdown");
  app.add_option("--json", into.json, "write everything to it, too; -: to standard output, instead of the table")
      ->type_name("FILE");
  const CLI::App* const map = add_map_command(app, line.map);
  pgas::tools::set_page(app, about());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    status = pgas::tools::end_with(app, stop);
    return false;
  }
  line.maps = map->parsed();
  const std::size_t word = 8;
  into.least_bytes = std::max(word, into.least_bytes / word * word);
  if (into.pair[0] == into.pair[1]) {
    status = pgas::tools::end_with(app, CLI::ValidationError("--pair", "two different PEs"));
    return false;
  }
  return true;
}

/// The rows that match the command line, in the order of all_rows().
std::vector<row> chosen(const options& how, std::vector<row> all) {
  std::erase_if(all, [&](const row& r) {
    return std::ranges::none_of(how.rows, [&](const std::string& pattern) { return matches(pattern, r); });
  });
  return all;
}

/// Measures all rows. Returns the number of wrong words over all points.
std::uint64_t run(const options& how) {
  pgas::world w = pgas::world::join();
  const std::vector<row> rows = chosen(how, all_rows(w.heap() == pgas::heap_kind::cuda));
  std::vector<std::pair<const row*, point>> points;
  for (const row& each : rows) {
    for (const point& at : points_of(each, how, w)) points.emplace_back(&each, at);
  }
  if (points.empty())
    throw pgas::error(
        pgas::code::invalid_argument,
        fmt::format("nothing to measure: --pair {},{} needs more than {} PEs, or the rows have no such sizes",
                    how.pair[0], how.pair[1], w.n_pes()));
  benchmark_world s(w, how.most_bytes);
  const bool prints = w.my_pe() == 0;
  std::vector<result> all;
  if (prints) {
    table out(how, w, points.size());
    for (const auto& [r, at] : points) {
      out.progress(*r, at);
      out.add(all.emplace_back(measure(s, how, *r, at)));
    }
    if (!how.json.empty()) write_json(how, w, all);
  } else {
    for (const auto& [r, at] : points) all.push_back(measure(s, how, *r, at));
  }
  std::uint64_t wrong = 0;
  for (const result& each : all) wrong += each.wrong;
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  command_line line;
  const options& how = line.rows;
  int status = 0;
  if (!read(line, argc, argv, status)) return status;
  try {
    if (line.maps) return run_map(line.map);
    if (how.list) {
      fmt::print("{}", list_of(all_rows(false)));
      return 0;
    }
    return run(how) == 0 ? 0 : 1;
  } catch (const pgas::error& failed) {
    fmt::print(stderr, "{}\n", failed.what());
    return 1;
  }
}
