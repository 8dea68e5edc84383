// pgasrun, also installed as oshrun: starts the PEs of a job on this host and lets them find one another. Needs no MPI
// and no daemon.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/resource_limits.hpp"
#include "src/tools/pgasrun/job.hpp"
#include "tools/common/tool.hpp"

namespace pgas::boot {
namespace {

/// The request of the command line: a job, or an immediate end after help or version output.
struct command_line {
  job_options job;
  std::vector<std::string> variables;  ///< the variables of -x: NAME=VALUE, or only NAME
  std::optional<int> status;           ///< the status with which the program ends immediately
};

constexpr double longest_time = 1e6;  // in seconds
constexpr int most_pes = 4096;

[[nodiscard]] tools::page about() {
  return {
      .summary = "starts N processes of a program on this host as the PEs of one job",
      .usage = "-n N [OPTIONS] PROGRAM [ARGUMENTS...]",
      .paragraphs =
          {"When a PE fails, the others have the grace period to exit; then pgasrun kills them. No process that a PE "
           "has started outlives the job. pgasrun forwards a termination signal to all PEs; a second signal kills them "
           "immediately.",
           "PE 0 reads the standard input unless that is a terminal. PEs inherit the environment. On several hosts, "
           "start programs with mpirun or srun."},
      .examples = {{"pgasrun -n 4 ./app", "four PEs"},
                   {"pgasrun -n 2 -x PGAS_LOG=debug --tag-output ./app -v",
                    "with a setting, and with the PE's number before each line"},
                   {"pgasrun -n 8 --timeout 60 ./test", "ended after a minute, with status 124"}},
      .statuses = {{"0", "all PEs ended with 0"},
                   {"N", "the status of the first PE that failed"},
                   {"124", "--timeout has ended the job"},
                   {"127", "the program can't be started"},
                   {"128 + N", "signal N killed the first PE that failed, or ended the job: 130 after Ctrl-C"}},
      .variables = {{"PGAS_RANK, PGAS_SIZE", "set for each PE: its number, and the number of PEs"},
                    {"PGAS_LOCAL_FD", "set for each PE: the socket through which they find one another"}},
      .see_also = {"pgas-doctor", "pgas-info", "pgas-perf", "pgas-why"},
  };
}

[[nodiscard]] milliseconds to_ms(double seconds) {
  return std::chrono::round<milliseconds>(std::chrono::duration<double>(seconds));
}

/// The words of the command line. mpirun's long options with one dash are changed to two dashes, but only before the
/// program. The program begins at the first word that is neither an option nor the value of an option.
[[nodiscard]] std::vector<std::string> words_of(int argc, char** argv) {
  constexpr std::array with_value{
      "-n",         "--np",          "-N",        "--ppn",          "-x",     "-H", "--host",
      "--hostfile", "--machinefile", "--timeout", "--grace-period", "--grace"};
  constexpr std::array one_dash{"-np", "-ppn", "-host", "-hostfile", "-machinefile"};
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size() && words[i].starts_with('-') && words[i] != "--"; ++i) {
    if (std::find(one_dash.begin(), one_dash.end(), words[i]) != one_dash.end()) words[i].insert(0, 1, '-');
    if (std::find(with_value.begin(), with_value.end(), words[i]) != with_value.end()) ++i;
  }
  return words;
}

/// The number of PEs from -n and -N. All PEs are on this host.
[[nodiscard]] int count_pes(int all, int each) {
  if (all == 0 && each == 0) throw CLI::RequiredError("-n");
  if (each != 0 && all > each)
    throw CLI::ValidationError(
        "-N", fmt::format("{} PEs with {} on a host need several hosts, and pgasrun starts PEs on this one only: leave "
                          "-N out, or start the program with mpirun or srun",
                          all, each));
  return all != 0 ? all : each;
}

void check_variables(const std::vector<std::string>& variables) {
  for (const std::string& text : variables)
    if (text.empty() || text.front() == '=')
      throw CLI::ValidationError("-x", fmt::format("'{}' names no variable: write -x NAME=VALUE", text));
}

/// Reads the command line. Prints help, the version, and errors of the command line.
[[nodiscard]] command_line read_command_line(int argc, char** argv) {
  CLI::App app{"", "pgasrun"};
  command_line asked;
  int all = 0;
  int each = 0;
  double timeout = 0;
  double grace_period = 5;
  std::string hosts;
  app.add_option("-n,--np", all, "number of PEs; also -np")->type_name("N")->check(CLI::Range(1, most_pes));
  app.add_option("-N,--ppn", each, "number of PEs on each host, which is this one only; also -ppn")
      ->type_name("N")
      ->check(CLI::Range(1, most_pes));
  app.add_option("-x", asked.variables, "set NAME=VALUE for the PEs; NAME alone is inherited anyway")
      ->allow_extra_args(false)
      ->type_name("NAME[=VALUE]")
      ->expected(1)
      ->take_all();
  app.add_option("--timeout", timeout, "end the job after this time")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, longest_time));
  app.add_option("--grace-period", grace_period, "time for the other PEs to exit once a PE has failed")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, longest_time))
      ->capture_default_str();
  CLI::Option* const former = app.add_option("--grace", grace_period)->check(CLI::Range(0.0, longest_time))->group("");
  app.add_flag("--tag-output", asked.job.tag_output, "print [PE] before each line of a PE's output");
  CLI::Option* const elsewhere = app.add_option("-H,--host,--hostfile,--machinefile", hosts)->group("");
  app.prefix_command();
  tools::set_page(app, about());

  try {
    std::vector<std::string> words = words_of(argc, argv);
    std::reverse(words.begin(), words.end());  // CLI11 expects the words in reverse order
    app.parse(std::move(words));
    if (*elsewhere)
      throw CLI::ValidationError(
          "hosts", fmt::format("'{}': pgasrun starts PEs on this host only. On several: mpirun --hostfile "
                               "FILE -n N program, or srun --mpi=pmix -n N program",
                               hosts));
    if (*former) std::fputs("pgasrun: warning: --grace is a former spelling; give --grace-period instead\n", stderr);
    std::vector<std::string>& command = asked.job.command;
    command = app.remaining();
    if (!command.empty() && command.front() == "--") command.erase(command.begin());
    if (!command.empty() && command.front().starts_with('-')) throw CLI::ExtrasError({command.front()});
    asked.job.processes = count_pes(all, each);
    check_variables(asked.variables);
    if (command.empty()) throw CLI::RequiredError("program");
  } catch (const CLI::ParseError& e) {
    asked.status = tools::end_with(app, e);
    return asked;
  }
  if (timeout > 0) asked.job.timeout = to_ms(timeout);
  asked.job.grace_period = to_ms(grace_period);
  return asked;
}

}  // namespace
}  // namespace pgas::boot

namespace {

constexpr int status_of_no_start = 127;

/// Sets variables, which PEs inherit.
void set_variables(const std::vector<std::string>& variables) {
  for (const std::string& text : variables)
    if (const std::size_t equals = text.find('='); equals != std::string::npos)
      ::setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, 1);
}

}  // namespace

int main(int argc, char** argv) {
  pgas::boot::command_line asked = pgas::boot::read_command_line(argc, argv);
  if (asked.status) return *asked.status;
  try {
    set_variables(asked.variables);
    pgas::detail::allow_descriptors_for(asked.job.processes);
    return pgas::boot::job{std::move(asked.job)}.run();
  } catch (const std::exception& e) {
    // std::fputs() and not fmt::print(), which throws if the output is closed
    std::fputs(fmt::format("pgasrun: {}\n", e.what()).c_str(), stderr);
    return status_of_no_start;
  }
}
