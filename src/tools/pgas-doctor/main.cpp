/// @file
/// pgas-doctor: says whether pgas programs will run where and as it was started, and how fast, row by row: what it
/// found, what that means, and what mends it. Every PE runs it; PE 0 prints.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/unique_fd.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/report.hpp"

namespace {

constexpr int wrong_command_line = 2;

/// Reads the command line. False where the program ends here with `status`; the reason is printed.
bool read(pgas::doctor::request& into, int argc, char** argv, int& status) {
  CLI::App app{
      "Will pgas programs run here, and fast? Start it as they are started, alone or on several PEs:\n"
      "  pgas-doctor --quick\n"
      "  mpirun --host node1:4,node2:4 -n 8 pgas-doctor\n"
      "It tries what programs do, and prints a row for each thing: ok, slow, fails or unknown."};
  app.add_flag("--quick", into.quick, "leave out what takes long: bandwidths, GPU segments");
  std::string file;
  const CLI::Option* const json =
      app.add_option("--json", file, "print a JSON document instead of the table; with FILE, write it there too")
          ->expected(0, 1)
          ->type_name("[FILE]");
  app.add_flag("-v,--verbose", into.verbose, "pass on what UCX, PMIx and drivers print");
  app.footer(
      "Exit status: 0 no row fails, 1 a row fails, 2 wrong command line, 128+N ended by signal N.\n"
      "Example: pgasrun -n 4 pgas-doctor --json report.json");
  app.set_version_flag("--version", DOCTOR_VERSION);
  app.get_formatter()->column_width(24);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    status = app.exit(stop) == 0 ? 0 : wrong_command_line;
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
           {{"doctor", verdict::fails, failed.what(), "not even the doctor can start what it needs",
             "ulimit -n 1024, ulimit -u unlimited"}});
    return 1;
  }
}
