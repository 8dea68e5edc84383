/// @file
/// pgas-info prints the version, the options with their values, and the error codes. For a job, it prints the routes
/// between the PEs, and the statistics of the PEs. It also lists the objects that processes of this host share by
/// tickets. With --markdown, it prints the pages of docs/ that are made from the library's tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iterator>
#include <optional>
#include <span>

#include "common/net/event_loop.hpp"
#include "host/config/config_text.hpp"
#include "host/config/option_value.hpp"
#include "pgas/error.hpp"
#include "pgas/world.hpp"
#include "tools/common/text.hpp"
#include "tools/common/tool.hpp"
#include "tools/pgas-info/list_shared.hpp"
#include "tools/pgas-info/metrics_page.hpp"
#include "tools/pgas-info/metrics_server.hpp"
#include "tools/pgas-info/show_stats.hpp"

namespace {

constexpr std::string_view about = "pgas " INFO_VERSION
                                   "\n"
                                   "CUDA " INFO_CUDA
                                   "\n"
                                   "PMIx " INFO_PMIX "\n";

pgas::tools::page page_of_tool() {
  return {
      .summary = "shows settings and error codes of pgas, routes between PEs, and their statistics",
      .paragraphs = {"Without an option it prints the version, and whether pgas was built with CUDA and PMIx.",
                     "docs/metrics.md has the columns of --stats, the fields of its JSON document, and the metrics of "
                     "--serve."},
      .examples = {{"pgas-info --config", "the settings, their values now and where each comes from"},
                   {"mpirun -n 4 pgas-info --peers", "how each of four PEs reaches the others"},
                   {"pgas-info --stats", "statistics of the PEs of all jobs on this host"},
                   {"pgas-info --serve :9400", "serves the same statistics to Prometheus, until Ctrl-C"},
                   {"pgas-info --shared", "memory and timelines that processes of this host share by ticket"}},
      .statuses = {{"0", "all was printed"},
                   {"1", "an error, whose code begins its message: --errors explains it; or no job answers --stats"},
                   {"130", "--serve was ended by Ctrl-C"}},
      .variables = {{"PGAS_*", "the settings, as programs read them: --config lists all"},
                    {"NVSHMEM_*, SHMEM_*", "other names of these settings: --config lists them"}},
      .see_also = {"pgasrun", "pgas-doctor", "pgas-why"},
  };
}

/// The text of docs/configuration.md.
std::string config_markdown() {
  std::string text =
      "# Configuration\n"
      "\n"
      "<!-- Printed by `pgas-info --config --markdown` from src/host/config/option_table.cpp; change it there. -->\n"
      "\n"
      "Every setting is a field of `pgas::config` and a variable of the environment. A value that its option does not\n"
      "allow is an error that names the variable, the value and what is allowed. An unknown `PGAS_*` is ignored with "
      "a\n"
      "warning that names the nearest option. The variables of NVSHMEM and OpenSHMEM listed as \"also read\" apply "
      "where\n"
      "the option itself is not set. A former name or value still applies, with a warning. `pgas-info --config` shows\n"
      "the values now and where each comes from.\n"
      "\n";
  for (const pgas::config_detail::option& row : pgas::config_detail::options()) {
    fmt::format_to(std::back_inserter(text), "## {}\n\n{}\n\n* Values: {}\n* Default: `{}`\n", row.name, row.help,
                   pgas::config_detail::allowed(row), pgas::config_detail::default_of(row));
    if (!row.former.empty()) fmt::format_to(std::back_inserter(text), "* Former name: `{}`\n", row.former);
    for (const pgas::config_detail::translation& t : row.former_words)
      fmt::format_to(std::back_inserter(text), "* Former value: `{}` for `{}`\n", t.from, t.to);
    for (const pgas::config_detail::alias& other : row.aliases) {
      fmt::format_to(std::back_inserter(text), "* Also read: `{}`", other.name);
      std::string_view separator = ", with ";
      for (const pgas::config_detail::translation& t : other.values) {
        fmt::format_to(std::back_inserter(text), "{}{} = `{}`", separator,
                       t.from == "*" ? "anything else" : fmt::format("`{}`", t.from), t.to);
        separator = ", ";
      }
      text += '\n';
    }
    text += '\n';
  }
  text +=
      "## Set by launchers\n"
      "\n"
      "`pgasrun` tells its children:\n"
      "\n";
  const auto list = [&text](std::span<const pgas::config_detail::other_variable> variables) {
    for (const pgas::config_detail::other_variable& v : variables)
      fmt::format_to(std::back_inserter(text), "* `{}`: {}\n", v.name, v.help);
  };
  list(pgas::config_detail::launcher_variables());
  text +=
      "\n"
      "Also understood: `PMIX_RANK` and `PMIX_NAMESPACE` (mpirun, `srun --mpi=pmix`), and, where `MASTER_ADDR`, `RANK` "
      "and\n"
      "`WORLD_SIZE` are all set, those with `MASTER_PORT`, `LOCAL_WORLD_SIZE`, `TORCHELASTIC_RUN_ID` and\n"
      "`TORCHELASTIC_USE_AGENT_STORE` (torchrun). With `PGAS_UNIQUE_ID`, `RANK` and `WORLD_SIZE` are enough.\n"
      "\n"
      "## Of OpenSHMEM and NVSHMEM\n"
      "\n"
      "Any value but `0`, `n`, `no`, `f` and `false` is a yes:\n"
      "\n";
  list(pgas::config_detail::startup_text_variables());
  return text;
}

std::string errors_text() {
  std::string text;
  for (const pgas::error_info& row : pgas::error_table())
    fmt::format_to(std::back_inserter(text), "{} {}\n    Cause: {}\n    Fix: {}\n\n", to_string(row.code), row.name,
                   row.cause, row.fix);
  return pgas::tools::fitted(text);
}

/// The text of docs/errors.md.
std::string errors_markdown() {
  std::string text =
      "# Error codes\n"
      "\n"
      "<!-- Printed by `pgas-info --errors --markdown` from src/host/error/error_table.cpp; change it there. -->\n"
      "\n"
      "The host API throws `pgas::error`; its text starts with one of these codes. The meaning of a code never "
      "changes.\n"
      "\n";
  for (const pgas::error_info& row : pgas::error_table())
    fmt::format_to(std::back_inserter(text), "## {} {}\n\n*Cause* {}\n\n*Fix* {}\n\n", to_string(row.code), row.name,
                   row.cause, row.fix);
  text.pop_back();
  return text;
}

std::string configuration(bool markdown) {
  if (markdown) return config_markdown();
  const auto now = pgas::config_detail::read(pgas::config_detail::environment::of_process());
  std::string text = pgas::tools::fitted(pgas::config_detail::config_text(now));
  for (const pgas::config_detail::remark& r : now.remarks) text += r.text + '\n';
  return text;
}

/// Collective: the text about the routes of this PE, with one line for each PE.
std::string peers() {
  const pgas::world world = pgas::world::join();
  std::string text;
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    const pgas::pe_info& other = world.pe(pe);
    const std::string_view how = pe == world.my_pe() ? std::string_view("itself") : std::string_view(other.route);
    text += fmt::format("PE {} -> PE {} (host {}, {}): {}\n", world.my_pe(), pe, other.host, other.device, how);
  }
  return text;
}

/// Serves the metrics of this user's PEs on this host until a signal ends the program.
void serve(const std::string& where) {
  using pgas::detail::clock;
  // The interval between questions to the PEs. Within the interval all clients get the same page, so that further
  // clients cause no further questions.
  constexpr std::chrono::milliseconds fresh{1000};
  pgas_info::metrics_collector collector(pgas::config::from_environment().socket_directory);
  std::string page;
  clock::time_point collected;
  pgas::detail::event_loop loop;
  pgas_info::metrics_server server(loop, pgas_info::parse_metrics_address(where), [&] {
    if (page.empty() || clock::now() > collected + fresh) {
      page = collector.collect();
      collected = clock::now();
    }
    return page;
  });
  fmt::print("metrics of the PEs on this host: http://{}/metrics\n",
             pgas_info::parse_metrics_address(where).with_port(server.port()).text());
  std::fflush(stdout);
  for (;;) {
    loop.run_once(server.next_wake());
    server.check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"", "pgas-info"};
  bool config = false;
  bool errors = false;
  bool markdown = false;
  std::optional<pid_t> shared_by;
  bool with_peers = false;
  app.add_flag("--config", config, "list the settings, their values now and where each comes from");
  app.add_flag("--errors", errors, "list the error codes with cause and fix");
  app.add_flag("--peers", with_peers, "join with the current launcher, and list the routes from this PE to the others");
  const CLI::Option* const shared = app.add_option("--shared", shared_by,
                                                   "list memory and timelines that processes of this host share by "
                                                   "ticket, and the processes that have them open")
                                        ->expected(0, 1)
                                        ->type_name("[PID]");
  std::string job;
  bool json = false;
  const CLI::Option* const stats =
      app.add_option("--stats", job,
                     "print the statistics of the PEs of all jobs on this host, or of one job: its name, the start of "
                     "its name, or the pid of one of its PEs on this host")
          ->expected(0, 1)
          ->type_name("[JOB]");
  std::string serve_at;
  app.add_option(
         "--serve", serve_at,
         "serve the statistics of the PEs on this host over HTTP, in the text format of Prometheus, at /metrics: "
         ":PORT for the loopback, ADDRESS:PORT for other hosts, without a password")
      ->type_name("ADDRESS:PORT");
  app.add_flag("--json", json, "with --stats: print all answers as JSON (docs/metrics.md)")->needs("--stats");
  app.add_flag("--markdown", markdown, "with --config or --errors: print the list as a page of docs/");
  pgas::tools::set_page(app, page_of_tool());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return pgas::tools::end_with(app, stop);
  }
  try {
    if (!serve_at.empty()) serve(serve_at);
    if (config) fmt::print("{}", configuration(markdown));
    if (errors) fmt::print("{}", markdown ? errors_markdown() : errors_text());
    if (with_peers) fmt::print("{}", peers());
    if (shared->count() > 0)
      fmt::print("{}", pgas_info::shared_text(pgas::config::from_environment().socket_directory, shared_by));
    if (stats->count() > 0) {
      const std::string text = pgas_info::stats_text(pgas::config::from_environment().socket_directory, job, json);
      fmt::print("{}", text);
      if (text.empty()) {
        fmt::print(stderr, "pgas-info: no {} of this user answers on this host\n",
                   job.empty() ? "job" : fmt::format("job '{}'", job));
        return 1;
      }
    }
    if (!config && !errors && !with_peers && shared->count() == 0 && stats->count() == 0) fmt::print("{}", about);
  } catch (const pgas::error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "pgas-info: {}. If the job runs another version of pgas, use the pgas-info of that version\n",
               e.what());
    return 1;
  }
}
