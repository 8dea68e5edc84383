#include "map/map_command.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "map/map_document.hpp"
#include "map/map_run.hpp"
#include "map/map_summary.hpp"
#include "map/map_text.hpp"
#include "pgas/pgas.hpp"
#include "tools/common/text.hpp"
#include "tools/common/tool.hpp"

namespace pgas::perf {

namespace {

volatile ::sig_atomic_t asked_to_end = 0;
volatile ::time_t asked_at = 0;

/// Notes the signal. Launchers can send a signal twice, to the process and to its group. If a second signal arrives
/// seconds later, a user has sent it, and does not want to wait for the end of a step.
void note_signal(int number) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (asked_to_end == 0) {
    asked_at = now.tv_sec;
    asked_to_end = 1;
  } else if (now.tv_sec > asked_at + 1) {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
}

/// While an object of this class exists, a signal ends the map only after the current step.
class end_on_signal {
 public:
  end_on_signal() {
    struct sigaction note {};
    note.sa_handler = note_signal;
    note.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &note, &interrupt_);
    ::sigaction(SIGTERM, &note, &terminate_);
  }
  ~end_on_signal() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  end_on_signal(const end_on_signal&) = delete;
  end_on_signal& operator=(const end_on_signal&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

/// A line on the terminal of standard error that shows the step. No output if there is no terminal.
class progress_line {
 public:
  void show(const map_progress& now) {
    if (!terminal_) return;
    fmt::print(stderr, "\r\033[K[{}/{}] {}, {:.0f} s left", now.step + 1, now.steps, now.what,
               std::max(0.0, now.seconds_left));
    std::fflush(stderr);
    shown_ = true;
  }
  ~progress_line() {
    if (!shown_) return;
    std::fputs("\r\033[K", stderr);  // std::fputs() and not fmt::print(), which throws if the terminal is gone
    std::fflush(stderr);
  }
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

 private:
  bool terminal_ = tools::is_terminal(STDERR_FILENO);
  bool shown_ = false;
};

text_style style_of(const map_options& how) {
  constexpr std::size_t least = 80;
  text_style style{how.width, how.colour == "always" || (how.colour == "auto" && tools::wants_colour()), how.matrices};
  if (style.width == 0) style.width = tools::columns_or(tools::usual_width);
  style.width = std::max(least, style.width);
  return style;
}

/// *Errors* system with the name of the file. Called before the measurement, so that an error is reported immediately.
void expect_writable(const std::string& file) {
  if (file.empty() || file == "-" || ::access(file.c_str(), W_OK) == 0) return;
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
  if (errno != ENOENT || ::access(folder.c_str(), W_OK) != 0)
    throw error(code::system, fmt::format("{} cannot be written: {}", file, std::strerror(errno)));
}

/// *Errors* invalid_argument if the options leave no step to measure.
void expect_steps(const map_options& how, const world_map& now, std::size_t steps) {
  // Enough bytes for one word in the slot of each PE.
  const std::size_t least = std::max<std::size_t>(64, 8 * now.size());
  if (now.bytes < least)
    throw error(code::invalid_argument, fmt::format("--bytes is less than {}, too few for {} PEs", least, now.size()));
  if (steps == 0 && now.size() > 1)
    throw error(code::invalid_argument,
                fmt::format("nothing to measure: latency is measured alone only, and pattern all is of bandwidth; "
                            "asked for were {} in {}",
                            fmt::join(how.measures, ", "), fmt::join(how.patterns, ", ")));
}

/// The work of PE 0 before the measurement: the files, and the first lines of output. *Errors* those of expect_steps(),
/// expect_writable(), load_map(); invalid_argument for a map of another world.
std::optional<world_map> prepare(const map_options& how, const world_map& now) {
  expect_writable(how.save);
  const map_estimate needs = estimate(how, static_cast<int>(now.size()));
  expect_steps(how, now, needs.steps);
  if (how.save != "-")
    fmt::print("{}\n{}\n\n", fmt::format("pgas-perf {}: map of {}", PGAS_PERF_VERSION, world_line(now)),
               needs.steps == 0 ? std::string("there is no pair of PEs to measure: start it on two or more")
                                : fmt::format("{} steps, about {:.0f} s, at most {:.0f} s (--limit)", needs.steps,
                                              std::max(1.0, needs.seconds), how.limit_seconds));
  std::fflush(stdout);
  if (how.compare.empty()) return std::nullopt;
  world_map before = load_map(how.compare);
  if (const std::string why = why_incomparable(before, now); !why.empty())
    throw error(code::invalid_argument, fmt::format("{} can't be compared with: {}", how.compare, why));
  return before;
}

/// The work of PE 0 after the measurement. Returns the exit status.
int report(const map_options& how, const world_map& map, const std::optional<world_map>& before) {
  std::optional<map_comparison> against;
  if (before) against = compare(*before, map, how.tolerance_percent / 100);
  const map_comparison* const compared = against ? &*against : nullptr;
  const text_style style = style_of(how);
  if (how.save != "-") {
    fmt::print("{}", text_of(map, style));
    if (against) fmt::print("{}", text_of(*against, style));
  }
  if (!how.save.empty())
    if (const std::string why = tools::write_output(how.save, document_of(map, compared)); !why.empty())
      throw error(code::system, why);
  if (map.wrong != 0) return status_of_failure;
  return against && against->too_slow() != 0 ? status_of_slower_pair : 0;
}

tools::page about_map() {
  return {
      .summary = "measures every pair of PEs in both directions, alone and all together, and names slow PEs and pairs",
      .paragraphs =
          {"Bandwidth, latency and atomics, in these patterns: alone, one pair at a time; shift, every PE to the PE at "
           "distance d, for every d; incast, all PEs to one PE, for every PE; all, every PE to all others.",
           "docs/perf-map.md explains the tables, the pictures and the JSON document, which pgas-plot draws."},
      .examples = {{"pgasrun -n 4 pgas-perf map --save good.json", "measures, and saves the document"},
                   {"pgas-plot good.json map.html", "a page with pictures and tables"},
                   {"pgasrun -n 4 pgas-perf map --compare good.json --tolerance 15",
                    "status 3 if a pair has become slower by more than 15 %"}},
      .statuses = {{"0", "all measurements completed, and all data was correct"},
                   {"1", "a failure, or wrong data"},
                   {"3", "a pair is slower than in --compare"},
                   {"130", "ended by Ctrl-C or SIGTERM, after the step"}},
      .variables = {{"PGAS_HEAP", "host: measure the host heap even if there is a GPU"},
                    {"PGAS_P2P", "the direct PEs of a host; the others are measured as proxied"},
                    {"PGAS_*", "the other settings, as programs read them"},
                    {"NO_COLOR", "if it is set and not empty, no colours on terminals, unless --color asks for them"}},
      .see_also = {"pgas-perf", "pgas-plot", "pgasrun", "pgas-doctor"},
  };
}

/// Returns PE 0's value, on all PEs.
int agree(world& w, int mine) {
  const symmetric<std::int32_t> value = w.allocate<std::int32_t>(1);
  if (w.my_pe() == 0)
    for (int pe = 0; pe < w.n_pes(); ++pe) p(w, value.data(), mine, pe);
  w.barrier_all();
  return g(w, value.data(), w.my_pe());
}

/// Calls `part` on PE 0 and prints its errors. Returns the status of `part`, or status_of_failure, on all PEs.
template <class Part>
int on_pe_0(world& w, const Part& part) {
  int status = 0;
  if (w.my_pe() == 0) {
    try {
      status = part();
    } catch (const error& failed) {
      fmt::print(stderr, "{}\n", failed.what());
      status = status_of_failure;
    }
  }
  return agree(w, status);
}

}  // namespace

CLI::App* add_map_command(CLI::App& program, map_options& into) {
  CLI::App* const app = program.add_subcommand("map");
  app->add_option("-m,--measures", into.measures, "bandwidth, latency, atomics: some of them, with commas")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"bandwidth", "latency", "atomics"}));
  app->add_option("-p,--patterns", into.patterns, "alone, shift, incast, all: some of them, with commas")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"alone", "shift", "incast", "all"}));
  app->add_option("-e,--bytes", into.bytes, "of a put, such as 64K (default: 4M on the host heap, 16M on GPUs)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app->add_option("--ms", into.milliseconds, "of a run (default: 5, or less where --limit asks for it)")
      ->type_name("MILLISECONDS")
      ->check(CLI::PositiveNumber);
  app->add_option("-r,--repeats", into.repeats, "runs of which the median is taken (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  app->add_flag("--quick", into.quick, "pairs \"alone\" that have no PE in common run together");
  app->add_option("--limit", into.limit_seconds, "after which no step begins, what is left is said (default: 300)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app->add_option("--save,--json", into.save, "write it all as JSON; -: to standard output, instead of tables")
      ->type_name("FILE");
  app->add_option("--compare", into.compare, "one of --save: say what became of each pair since")->type_name("FILE");
  app->add_option("--tolerance", into.tolerance_percent, "that a pair may be slower than in --compare (default: 10)")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--width", into.width, "of the tables, at least 80 (default: the terminal's, or 100)")
      ->type_name("COLUMNS");
  app->add_option("--color", into.colour, "always, never, auto: on terminals (default: auto)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app->add_flag("--matrices", into.matrices, "print every pair, also of more than 16 PEs");
  tools::set_page(*app, about_map());
  return app;
}

int run_map(const map_options& how) {
  world w = world::join();
  const end_on_signal noted;
  std::optional<world_map> before;
  {
    const world_map empty = describe_world(w, how);
    const int status = on_pe_0(w, [&] {
      before = prepare(how, empty);
      return 0;
    });
    if (status != 0) return status;
  }
  map_outcome found;
  {
    progress_line line;
    found = measure_map(
        w, how, [] { return asked_to_end != 0; }, [&](const map_progress& now) { line.show(now); });
  }
  if (found.interrupted) {
    if (w.my_pe() == 0)
      fmt::print(stderr, "interrupted after {} of {} steps; nothing is saved\n", found.map.measured_steps,
                 found.map.measured_steps + found.map.skipped_steps);
    return status_of_interrupt;
  }
  return on_pe_0(w, [&] { return report(how, found.map, before); });
}

}  // namespace pgas::perf
