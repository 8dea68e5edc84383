/// @file
/// pgas-why: shows the waits between the PEs of a running job, and the PE at the root of the waits.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>

#include "host/watch/find_root.hpp"
#include "pgas/config.hpp"
#include "tools/common/text.hpp"
#include "tools/common/tool.hpp"
#include "tools/pgas-why/ask_job.hpp"
#include "tools/pgas-why/find_joining.hpp"
#include "tools/pgas-why/job_report.hpp"

namespace {

using namespace pgas_why;

struct options {
  std::string job;  ///< a job's name, the beginning of the name, or the pid of one of its PEs
  bool json = false;
  bool stacks = false;
  double watch = 0;
};

pgas::tools::page about() {
  return {
      .summary = "shows which PE waits for which in a running job",
      .paragraphs =
          {"pgas-why finds the jobs of this user on this host and asks all their PEs, on other hosts too, what they "
           "wait for: threads of kernels, host calls, collectives. The first sentence names the root, the PE for which "
           "all others ultimately wait. The command stops no process and takes about 20 ms, or 1.5 s if a PE does not "
           "answer. PEs that are still joining can't be asked; they are shown together with the missing PEs.",
           "docs/debugging.md explains the sentences, the limits and the JSON document."},
      .examples = {{"pgas-why", "all jobs of this user"},
                   {"pgas-why --watch 2 --stacks", "repeat every two seconds, with the stacks of the root"},
                   {"pgas-why --json 4711", "the job of the process 4711, for a program"}},
      .statuses = {{"0", "a job has answered"},
                   {"1", "there is no job, or none has answered; with --watch, the last job has ended"},
                   {"130", "ended by Ctrl-C"}},
      .variables = {{"PGAS_SOCKET_DIR", "the directory of the job's sockets, if the job was started with this setting"},
                    {"NO_COLOR", "if it is set and not empty, no colours on terminals"}},
      .see_also = {"pgasrun", "pgas-doctor", "pgas-info"},
  };
}

/// The answer of a job.
struct answered {
  job which;
  std::vector<pe_state> pes;
  nlohmann::ordered_json raw;
};

/// The largest number of questions to a job. If no wait is found, the question is repeated, because the answer of a
/// kernel has perhaps come too late.
constexpr int most_questions = 3;
/// The number of jobs that are asked at the same time. To find that a socket belongs to another user takes no
/// noticeable time.
constexpr std::size_t most_at_once = 64;

std::vector<answered> ask_all(const options& asked) {
  std::vector<answered> found;
  // The jobs are asked in parallel, because a stopped job takes a long time.
  std::vector<std::future<answered>> under_way;
  for (const job& item : find_jobs(pgas::config::from_environment().socket_directory)) {
    if (!may_be(asked.job, item)) continue;
    under_way.push_back(std::async(std::launch::async, [item] {
      answered next{item, {}, nlohmann::ordered_json::object()};
      for (int times = 0; times < most_questions; ++times) {
        nlohmann::ordered_json raw;
        std::vector<pe_state> pes = ask(item, raw);
        if (pes.empty()) break;
        next.pes = std::move(pes);
        next.raw = std::move(raw);
        if (!may_be_late(find_root(next.pes), next.pes)) break;
      }
      return next;
    }));
    if (under_way.size() % most_at_once == 0)
      for (const std::future<answered>& each : under_way) each.wait();
  }
  for (std::future<answered>& answer : under_way) {
    answered next = answer.get();
    // the job belongs to another user, or has already ended
    if (next.pes.empty() || !is(asked.job, next.raw.at("pes"))) continue;
    found.push_back(std::move(next));
  }
  return found;
}

const char* name_of(root::kind what) {
  switch (what) {
    case root::kind::nobody_waits: return "nobody waits";
    case root::kind::crowded: return "crowded";
    case root::kind::unseen: return "unseen";
    case root::kind::gone: return "gone";
    case root::kind::stopped: return "stopped";
    case root::kind::silent: return "silent";
    case root::kind::elsewhere: return "elsewhere";
    case root::kind::cycle: return "cycle";
    case root::kind::own_wait: return "own wait";
  }
  return "";
}

/// Examines the jobs once. Returns whether a job has answered.
bool look(const options& asked) {
  const std::vector<answered> jobs = ask_all(asked);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const answered& answer : jobs) {
    const root found = find_root(answer.pes);
    if (asked.json) {
      nlohmann::ordered_json entry = answer.raw;
      entry["job"] = answer.which.name;
      entry["root"] = {{"kind", name_of(found.what)}, {"pes", found.pes}, {"text", say(found, answer.pes)}};
      all.push_back(std::move(entry));
      continue;
    }
    fmt::print("{}", report(answer.which, answer.pes, found, pgas::tools::wants_colour()));
    if (asked.stacks)
      for (const int pe : found.pes) {
        const pe_state& state = answer.pes[static_cast<std::size_t>(pe)];
        fmt::print("\nPE {}, pid {} on {}:\n{}", pe, state.pid, state.host,
                   state.here ? stacks_of(state.pid) : "on another host: run pgas-why --stacks there\n");
      }
  }
  // find_joining() can also find PEs of a job that has answered, because these PEs are just completing their joining.
  const std::string directory = pgas::config::from_environment().socket_directory;
  bool any = !jobs.empty();
  if (jobs.empty() || asked.job.empty())
    for (const joining_job& item : find_joining(directory, asked.job)) {
      const bool known = std::ranges::any_of(jobs, [&](const answered& job) {
        return std::ranges::any_of(job.pes, [&](const pe_state& pe) { return pe.here && pe.pid == item.pes[0].pid; });
      });
      if (known) continue;
      if (asked.json)
        all.push_back(describe(item));
      else
        fmt::print("{}", report(item));
      any = true;
    }
  if (asked.json) fmt::print("{}\n", all.dump(2, ' ', true));
  if (!any && !asked.json)
    fmt::print(
        stderr, "pgas-why: {}\n",
        asked.job.empty()
            ? "no job of this user answers on this host: run it on a host of the job, as the job's user"
            : fmt::format(
                  "no job '{}' of this user answers on this host; without a name pgas-why shows all jobs that answer",
                  asked.job));
  std::fflush(stdout);
  return any;
}

}  // namespace

int main(int argc, char** argv) {
  options asked;
  CLI::App app("", "pgas-why");
  app.add_option("JOB", asked.job,
                 "the job: its name, the beginning of it, or the pid of one of its PEs here; default: all jobs");
  app.add_flag("--json", asked.json, "print the answers of all PEs and the root as JSON (docs/debugging.md)");
  app.add_flag("--stacks", asked.stacks, "the host stacks of the root, by eu-stack or gdb");
  app.add_option("--watch", asked.watch, "repeat every N seconds, until Ctrl-C")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0));
  pgas::tools::set_page(app, about());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return pgas::tools::end_with(app, why);
  }
  try {
    bool any = look(asked);
    while (asked.watch > 0 && any) {
      std::this_thread::sleep_for(std::chrono::duration<double>(asked.watch));
      fmt::print("\n");
      any = look(asked);
    }
    return any ? 0 : 1;
  } catch (const std::exception& why) {
    fmt::print(stderr, "pgas-why: {}\n", why.what());
    return 1;
  }
}
