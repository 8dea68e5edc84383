// pgasrun: starts the PEs of a job on this host and lets them find one another. Needs no MPI and no daemon.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bootstrap/pgasrun/job.hpp"
#include "common/descriptors.hpp"

namespace {

constexpr int status_of_wrong_usage = 2;
constexpr int status_of_no_start = 127;

[[nodiscard]] std::chrono::milliseconds to_ms(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Starts N processes of a program on this host as the PEs of one job, and ends all when one fails:\n"
      "  pgasrun -n N [OPTIONS] program [arguments...]",
      "pgasrun"};
  app.footer(
      "Exit status: 0, or that of the first PE that failed (128 + signal if it was killed), 124 when --timeout ended "
      "the "
      "job.\nPE 0 reads the standard input unless that is a terminal.");
  constexpr double longest = 1e6;
  pgas::boot::job_options options;
  double timeout = 0;
  double grace = 5;
  app.add_option("-n,--np", options.processes, "Number of PEs")->required()->check(CLI::Range(1, 4096));
  app.add_option("--timeout", timeout, "End the job after so many seconds")->check(CLI::Range(0.001, longest));
  app.add_option("--grace", grace, "Seconds that the others have to end by themselves once one failed")
      ->check(CLI::Range(0.0, longest))
      ->capture_default_str();
  app.add_flag("--tag-output", options.tag_output, "Put [PE] in front of each line that a PE prints");
  app.prefix_command();

  try {
    app.parse(argc, argv);
    options.command = app.remaining();
    if (!options.command.empty() && options.command.front() == "--") options.command.erase(options.command.begin());
    if (options.command.empty()) throw CLI::RequiredError("program");
    if (options.command.front().starts_with('-')) throw CLI::ExtrasError({options.command.front()});
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : status_of_wrong_usage;
  }
  if (timeout > 0) options.timeout = to_ms(timeout);
  options.grace = to_ms(grace);

  try {
    pgas::detail::allow_descriptors_for(options.processes);
    return pgas::boot::job{std::move(options)}.run();
  } catch (const std::exception& e) {
    std::fputs(fmt::format("pgasrun: {}\n", e.what()).c_str(), stderr);  // fmt::print() throws where nobody reads it
    return status_of_no_start;
  }
}
