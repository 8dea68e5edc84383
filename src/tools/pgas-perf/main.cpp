/// @file
/// pgas-perf: measures pgas on this machine, row by row: bandwidth, latency and rates of operations in kernels, on
/// streams and from the host, of collectives, of joining and allocating. Every PE runs it; PE 0 prints.
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
#include "report.hpp"

namespace {

using namespace pgas::perf;

/// The command line: the options of rows, or the command `map` with its own.
struct command_line {
  options rows;
  map_options map;
  bool maps = false;
};

/// Reads the command line. False where the program ends here with `status`; the reason is printed.
bool read(command_line& line, int argc, char** argv, int& status) {
  options& into = line.rows;
  CLI::App app{
      "Measures pgas: start it on two or more PEs (pgasrun, mpirun, srun), on the machine and with the settings that "
      "count.\n"
      "Each figure is the median of several runs, with the lowest and the highest; data is random and checked."};
  app.set_version_flag("--version", PGAS_PERF_VERSION);
  const std::map<std::string, scope> scopes{{"thread", scope::thread}, {"warp", scope::warp}, {"block", scope::block}};
  app.add_option("rows", into.rows, "rows to measure, such as put_bw, put_* or *_pp; all if none is named");
  app.add_flag("--list", into.list, "list the rows and what they mean");
  app.add_option("-b,--minbytes", into.least_bytes, "smallest size, such as 8 or 4K")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("-e,--maxbytes", into.most_bytes, "largest size")->transform(CLI::AsSizeValue(false));
  app.add_option("-f,--stepfactor", into.factor, "from one size to the next")->check(CLI::Range(2, 1 << 20));
  app.add_option("-n,--iters", into.iterations, "iterations of a run; 0: as many as take --ms");
  app.add_option("-w,--warmup_iters", into.warmup, "iterations before the clock starts")->check(CLI::Range(1, 1 << 20));
  app.add_option("-r,--repeats", into.repeats, "runs of which the median is taken")->check(CLI::Range(1, 10000));
  app.add_option("--ms", into.milliseconds, "milliseconds of a run")->check(CLI::PositiveNumber);
  app.add_option("-s,--scope", into.scopes, "thread, warp, block; several with commas")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(scopes));
  app.add_option("--blocks", into.blocks, "numbers of blocks, with commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("-t,--threads", into.threads, "threads of a block")->check(CLI::Range(1, 1024));
  app.add_option("--pair", into.pair, "the PEs that rows between two PEs take, such as 0,3")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::NonNegativeNumber);
  app.add_option("-c,--check", into.check, "check the data that the last run of each point left");
  app.add_flag("--markdown", into.markdown, "print the table as Markdown");
  app.add_option("--json", into.json, "write everything to this file too; -: to standard output, instead of the table");
  app.add_option("--plot", into.plot, "draw it to this file too, as SVG: curves, and maps of all pairs of PEs");
  const CLI::App* const map = add_map_command(app, line.map);
  app.get_formatter()->column_width(28);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    status = app.exit(stop);
    return false;
  }
  line.maps = map->parsed();
  const std::size_t word = 8;
  into.least_bytes = std::max(word, into.least_bytes / word * word);
  if (into.pair[0] == into.pair[1]) {
    status = app.exit(CLI::ValidationError("--pair", "two different PEs"));
    return false;
  }
  return true;
}

/// *Errors* invalid_argument for a name without a row. Called before joining, as it would abort the world.
void expect_known_rows(const options& how) {
  const std::vector<row> all = all_rows(false);  // the rows for GPUs have the same names
  for (const std::string& pattern : how.rows) {
    if (std::ranges::none_of(all, [&](const row& r) { return matches(pattern, r); }))
      throw pgas::error(pgas::code::invalid_argument, fmt::format("there is no row {}: --list names them", pattern));
  }
}

/// The rows that match the command line, in the order of all_rows().
std::vector<row> chosen(const options& how, std::vector<row> all) {
  std::erase_if(all, [&](const row& r) {
    return std::ranges::none_of(how.rows, [&](const std::string& pattern) { return matches(pattern, r); });
  });
  return all;
}

/// Measures everything. Returns how many words were wrong, over all points.
std::uint64_t run(const options& how) {
  pgas::world w = pgas::world::join();
  const std::vector<row> every = all_rows(w.heap() == pgas::heap_kind::cuda);
  const std::vector<row> rows = chosen(how, every);
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
  if (!how.plot.empty()) {
    const std::vector<pair_map> maps = measure_maps(s, how, every);
    if (prints) write_file(how.plot, drawing_of(all, maps));
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
    expect_known_rows(how);
    return run(how) == 0 ? 0 : 1;
  } catch (const pgas::error& failed) {
    fmt::print(stderr, "{}\n", failed.what());
    return 1;
  }
}
