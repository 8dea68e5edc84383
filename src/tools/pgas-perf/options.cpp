#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace pgas::perf {

bool read(options& into, int argc, char** argv, int& status) {
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
  app.get_formatter()->column_width(28);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    status = app.exit(stop);
    return false;
  }
  const std::size_t word = 8;
  into.least_bytes = std::max(word, into.least_bytes / word * word);
  if (into.pair[0] == into.pair[1]) {
    status = app.exit(CLI::ValidationError("--pair", "two different PEs"));
    return false;
  }
  return true;
}

}  // namespace pgas::perf
