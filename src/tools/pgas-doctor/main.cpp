/// @file
/// pgas-doctor reports whether and how fast pgas programs will run on this machine and under this launcher. Each row
/// states a finding, its meaning, and its fix. Every PE runs the doctor, and PE 0 prints.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/unique_fd.hpp"
#include "tools/common/tool.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/report.hpp"

namespace {

pgas::tools::page about() {
  return {
      .summary = "checks whether pgas programs run on this machine, and how fast",
      .paragraphs =
          {"Start it as programs are started, alone or on several PEs, with the same launcher, hosts, container and "
           "variables. It tries each thing that programs need, and PE 0 prints a row for it: ok, slow, fails or "
           "unknown, the finding, its effect and its fix. No row hangs: each step has a limit.",
           "docs/doctor.md describes all rows and the JSON document."},
      .examples = {{"pgas-doctor --quick", "this process alone; takes a fraction of a second without GPUs"},
                   {"pgasrun -n 4 pgas-doctor --json report.json", "four PEs on this host; the report is saved too"},
                   {"mpirun --host node1:4,node2:4 -n 8 pgas-doctor", "eight PEs on two hosts"}},
      .statuses = {{"0", "no row fails"}, {"1", "a row fails"}, {"128 + N", "ended by signal N: 130 after Ctrl-C"}},
      .variables = {{"PGAS_*", "the settings, as programs read them; PGAS_JOIN_TIMEOUT counts up to 30 s"},
                    {"UCX_*", "those of UCX, as programs read them"},
                    {"NO_COLOR", "if it is set and not empty, no colours on terminals"}},
      .see_also = {"pgasrun", "pgas-perf", "pgas-info", "pgas-why"},
  };
}

/// Reads the command line. False if the program ends here with `status`, after the reason was printed.
bool read(pgas::doctor::request& into, int argc, char** argv, int& status) {
  CLI::App app{"", "pgas-doctor"};
  app.add_flag("--quick", into.quick, "skip slow steps: bandwidths, GPU segments");
  std::string file;
  const CLI::Option* const json =
      app.add_option("--json", file, "print a JSON document instead of the table; with FILE, write it there too")
          ->expected(0, 1)
          ->type_name("[FILE]");
  app.add_flag("-v,--verbose", into.verbose, "show the output of UCX, PMIx and drivers");
  pgas::tools::set_page(app, about());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    status = pgas::tools::end_with(app, stop);
    return false;
  }
  if (json->count() > 0) into.json = file.empty() ? "-" : file;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  pgas::doctor::request how;
  int status = 0;
  if (!read(how, argc, argv, status)) return status;
  pgas::detail::fill_standard_descriptors();
  try {
    return pgas::doctor::examine(how, [&how](pgas::doctor::journal& out) { pgas::doctor::run_examination(how, out); });
  } catch (const std::exception& failed) {
    using namespace pgas::doctor;
    report(how, {},
           {{"doctor", verdict::fails, failed.what(), "pgas-doctor itself can't start the processes it needs",
             "ulimit -n 1024, ulimit -u unlimited"}});
    return 1;
  }
}
