/// @file
/// pgas-trace: prints and joins the trace of a job, from the files that PGAS_TRACE makes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/common/tool.hpp"
#include "tools/pgas-trace/events.hpp"
#include "tools/pgas-trace/merge_files.hpp"
#include "tools/pgas-trace/summary.hpp"

namespace {

using namespace pgas_trace;

const std::vector<pgas::tools::entry> statuses = {{"0", "done"},
                                                  {"1", "a file can't be read or written, or is none of this job"}};

pgas::tools::page about() {
  return {
      .summary = "merges and reads the traces of a job",
      .usage = "COMMAND",
      .paragraphs = {"A job that runs with PGAS_TRACE=FILE writes what each of its PEs did: host calls, waits, "
                     "collectives, work on streams, the proxy's commands. pgas-trace merges these files, with "
                     "an arrow from each signal to the wait that it ended, or prints how the time was spent.",
                     "The files are in Perfetto's trace format: ui.perfetto.dev shows them. docs/trace.md says what is "
                     "in them."},
      .examples = {{"PGAS_TRACE=t mpirun -n 4 ./app", "record: each PE writes a file, t.0 to t.3"},
                   {"pgas-trace merge t.pftrace t.?", "join them, to be opened at ui.perfetto.dev"},
                   {"pgas-trace summary t.pftrace", "where did the time go?"},
                   {"pgas-trace events t.? | pgas-plot - t.svg", "draw them"}},
      .statuses = statuses,
      .variables = {{"PGAS_TRACE", "of the job: the file to record to"}},
      .see_also = {"pgas-why", "pgas-info", "pgas-perf", "pgas-plot"},
  };
}

pgas::tools::page about_merge() {
  return {
      .summary = "merges the files of the PEs of a job",
      .usage = "OUT FILES...",
      .paragraphs = {"The times in the files are those of PE 0's clock already; each PE's track says by how much they "
                     "may be wrong. Merged files can be merged again with those of further PEs."},
      .examples = {{"pgas-trace merge t.pftrace t.?", "all PEs of a job of at most ten"}},
      .statuses = statuses,
      .see_also = {"pgas-trace"},
  };
}

pgas::tools::page about_summary() {
  return {
      .summary = "says where the time went",
      .usage = "[--json] FILES...",
      .paragraphs = {"It prints operations and bytes by route, the time in waits by the PE that was waited for, the "
                     "pairs of PEs whose operations took longest, host calls, and the critical path of the last "
                     "iteration: what happened between the last two barriers of all PEs."},
      .examples = {{"pgas-trace summary t.?", "of the files of the PEs"},
                   {"pgas-trace summary --json t.pftrace", "of a merged file, for a program"}},
      .statuses = statuses,
      .see_also = {"pgas-trace"},
  };
}

pgas::tools::page about_events() {
  return {
      .summary = "prints the events as JSON, for programs and for pgas-plot",
      .usage = "[--by LIST] [--from MS] [--ms MS] FILES...",
      .paragraphs = {"It prints each event with the PE, the track and the times, and the arrows from signals to waits. "
                     "docs/trace.md has the members of the document."},
      .examples = {{"pgas-trace events --by kernel --ms 0.8 t.pftrace > t.json", "the first 0.8 ms of kernels"},
                   {"pgas-plot t.json", "draw them, in t.svg"}},
      .statuses = statuses,
      .see_also = {"pgas-trace"},
  };
}

int merge(const std::string& to, const std::vector<std::string>& from) {
  merged_trace all = merge_files(from);
  const arrows found = find_arrows(all.all);
  draw(found, all.all);
  if (const std::string why = pgas::tools::write_file(to, pgas::trace::write_perfetto(all.all)); !why.empty())
    throw std::runtime_error(why);
  fmt::print("{}: {} PEs, {} signals, {} arrows to waits, {} signals that no wait saw\n", to, all.all.pes.size(),
             found.signals, found.all.size(), found.unseen);
  for (const std::string& remark : all.remarks) fmt::print(stderr, "pgas-trace: {}\n", remark);
  return 0;
}

int summary_of(const std::vector<std::string>& files, bool as_json) {
  const summary result = summarize(merge_files(files));
  fmt::print("{}\n", as_json ? json_of(result) : text_of(result));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string to;
  std::vector<std::string> files;
  bool as_json = false;
  CLI::App app("", "pgas-trace");
  CLI::App* const merging = app.add_subcommand("merge");
  merging->add_option("OUT", to, "the file to write")->type_name("FILE");
  merging->add_option("FILES", files, "the files of the PEs")->type_name("FILE");
  CLI::App* const summing = app.add_subcommand("summary");
  summing->add_option("FILES", files, "the files of the PEs, or the merged one")->type_name("FILE");
  summing->add_flag("--json", as_json, "as JSON, with all rows (docs/trace.md)");
  CLI::App* const printing = app.add_subcommand("events");
  selection which;
  printing->add_option("FILES", files, "the files of the PEs, or the merged one")->type_name("FILE");
  printing->add_option("--by", which.callers, "host, stream, kernel, proxy: some of them, with commas (default: all)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)  // the names of files follow
      ->check(CLI::IsMember({"host", "stream", "kernel", "proxy"}));
  printing->add_option("--from", which.from_ms, "begin so long after the first event (default: 0)")
      ->type_name("MILLISECONDS")
      ->check(CLI::NonNegativeNumber);
  printing->add_option("--ms", which.ms, "the time that is printed (default: until the last event)")
      ->type_name("MILLISECONDS")
      ->check(CLI::PositiveNumber);
  pgas::tools::set_page(*merging, about_merge());
  pgas::tools::set_page(*printing, about_events());
  pgas::tools::set_page(*summing, about_summary());
  pgas::tools::set_page(app, about());
  try {
    app.parse(argc, argv);
    // Missing files are checked here and not by the parser, which would report them before an unknown option.
    if (!merging->parsed() && !summing->parsed() && !printing->parsed())
      throw CLI::RequiredError("merge, summary or events");
    if (merging->parsed() && to.empty()) throw CLI::RequiredError("OUT");
    if (files.empty()) throw CLI::RequiredError("FILES");
  } catch (const CLI::ParseError& stop) {
    return pgas::tools::end_with(app, stop);
  }
  try {
    if (merging->parsed()) return merge(to, files);
    if (summing->parsed()) return summary_of(files, as_json);
    fmt::print("{}\n", events_json(merge_files(files), which));
    return 0;
  } catch (const std::exception& why) {
    fmt::print(stderr, "pgas-trace: {}\n", why.what());
    return 1;
  }
}
