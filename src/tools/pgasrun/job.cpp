#include "src/tools/pgasrun/job.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "bootstrap/error_messages.hpp"
#include "common/system_error.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds from_term_to_kill{2000};
constexpr milliseconds to_fall_silent{200};
constexpr int status_of_timeout = 124;  // the exit status of timeout(1)

[[nodiscard]] std::string describe(const pe_process& process) {
  return fmt::format("its process, pid {}, {}", process.pid, process.how_it_ended());
}

/// A descriptor from which the loop reads signals. SIGPIPE is blocked and not read: an error of write() shows that the
/// output is closed.
[[nodiscard]] unique_fd catch_signals() {
  sigset_t caught;
  ::sigemptyset(&caught);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&caught, number);
  unique_fd fd{::signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC)};
  if (!fd) throw_system("signalfd");
  // Requests SIGCHLD only for processes that end, not for processes that stop. While the signal of a stopped process
  // was pending, Linux would drop the signal of an ended process.
  struct sigaction ends_only {};
  ends_only.sa_handler = SIG_DFL;
  ends_only.sa_flags = SA_NOCLDSTOP;
  ::sigaction(SIGCHLD, &ends_only, nullptr);
  ::sigaddset(&caught, SIGPIPE);  // blocked and not ignored, because PEs would inherit an ignored signal
  ::sigprocmask(SIG_BLOCK, &caught, nullptr);
  return fd;
}

/// Ends processes that PEs have started and that have left the PEs' process groups. pgasrun is their reaper, so Linux
/// makes pgasrun their parent.
void end_orphans() {
  const deadline limit{milliseconds{2000}};
  while (::waitpid(-1, nullptr, WNOHANG) >= 0 && !limit.expired()) {
    std::ifstream children{fmt::format("/proc/self/task/{}/children", ::getpid())};
    for (pid_t pid; children >> pid;) ::kill(pid, SIGKILL);
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace

job::job(job_options options)
    : options_(std::move(options)),
      hubs_(loop_, options_.processes,
            {.aborted =
                 [this](int rank, std::string_view reason) {
                   handle_signals();
                   // In a later stage, the abort is a consequence of an event that was already reported.
                   if (stage_ != stage::running) return;
                   say(fmt::format("PE {} aborted the job: {}", rank, reason));
                   begin_ending(stage::grace_period, options_.grace_period);
                 },
             .fell_silent =
                 [this](int rank) {
                   handle_signals();  // another process has perhaps ended earlier
                   pe_process& process = processes_.at(static_cast<std::size_t>(rank));
                   // A process closes its connections just before it ends. The exit status of the process is a better
                   // reason than the closed connection.
                   if (!process.has_ended_within(to_fall_silent))
                     return std::string{"it closed its connection, although its process still runs"};
                   // Announces this failure before the failures of the PEs that receive this failure.
                   announce(process);
                   return describe(process);
                 },
             .turned_away =
                 [this](int rank) {
                   say(fmt::format("PE {} can't join: pgasrun may open no more files, raise the limit (ulimit -n)",
                                   rank));
                 }}),
      signals_(catch_signals()),
      output_(loop_, STDOUT_FILENO, [this] { listen_to_all(); }),
      errors_(loop_, STDERR_FILENO, [this] { listen_to_all(); }) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  loop_.watch(signals_.get(), POLLIN, [this](short) { handle_signals(); });
}

job::~job() {
  try {
    if (!processes_.empty()) clean_up();
  } catch (const std::exception&) {
    // clean_up() ends the processes before it throws. Output that was not passed on is lost.
  }
}

int job::run() {
  start_all();
  if (options_.timeout) time_is_up_ = deadline{*options_.timeout}.at();
  while (!all_ended()) {
    loop_.run_once(next_wake());
    hubs_.expire();
    advance();
  }
  clean_up();
  return status_.value_or(stage_ == stage::running ? 0 : 1);
}

void job::start_all() {
  processes_.reserve(static_cast<std::size_t>(options_.processes));
  for (int rank = 0; rank < options_.processes; ++rank) {
    processes_.push_back(pe_process::start(rank, options_.processes, options_.command, options_.tag_output));
    if (rank == 0)
      if (const auto library = other_shmem_library(processes_.back().pid))
        say(
            fmt::format("warning: {} is linked to {}, not to pgas, so each PE may be a job of its own: build the "
                        "program for pgas (oshcc, pgas-config), or start it with the launcher of that library",
                        options_.command.front(), *library));
    hubs_.serve(rank, processes_.back().requests.get());
    if (options_.tag_output) pass_on(processes_.back());
  }
}

void job::pass_on(pe_process& from) {
  streams_.emplace_back(from.rank, std::move(from.output), output_);
  streams_.emplace_back(from.rank, std::move(from.errors), errors_);
  for (auto item = std::prev(streams_.end(), 2); item != streams_.end(); ++item) listen_to(item);
}

void job::listen_to(std::list<tagged_stream>::iterator position) {
  loop_.watch(position->fd(), POLLIN, [this, position](short) {
    const bool goes_on = position->pump();
    if (goes_on && !position->held_up()) return;
    loop_.forget(position->fd());
    if (!goes_on) streams_.erase(position);
  });
}

void job::listen_to_all() {
  for (auto item = streams_.begin(); item != streams_.end(); ++item) listen_to(item);
}

void job::say(std::string_view line) { errors_.print(fmt::format("pgasrun: {}\n", line)); }

void job::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      // If several processes have ended, the first one is treated as the cause.
      for (pe_process& process : processes_)
        if (process.pid == static_cast<pid_t>(info.ssi_pid) && process.has_ended()) announce(process);
      look_for_ended();
      continue;
    }
    told_to_end_ = true;
    if (!status_) status_ = 128 + number;
    if (stage_ == stage::running) {
      signal_all(number);
      begin_ending(stage::grace_period, options_.grace_period);
    } else {  // a second request to end
      signal_all(SIGKILL);
      begin_ending(stage::killing, from_term_to_kill);
    }
  }
}

void job::look_for_ended() {
  for (pe_process& process : processes_)
    if (process.has_ended()) announce(process);
}

void job::announce(pe_process& process) {
  if (std::exchange(process.announced, true)) return;
  hubs_.ended(process.rank, describe(process));
  if (*process.status == 0 || status_) return;
  status_ = process.status;
  say(fmt::format("PE {} (pid {}) {}", process.rank, process.pid, process.how_it_ended()));
  begin_ending(stage::grace_period, options_.grace_period);
}

void job::begin_ending(stage first, milliseconds next_after) {
  if (stage_ >= first) return;
  stage_ = first;
  next_stage_ = deadline{next_after}.at();
}

void job::advance() {
  const auto now = clock::now();
  if (time_is_up_ && *time_is_up_ <= now) {
    say(fmt::format("the job ran longer than the {} that --timeout allows; ending it", seconds(*options_.timeout)));
    time_is_up_.reset();
    told_to_end_ = true;
    status_ = status_of_timeout;
    signal_all(SIGTERM);
    begin_ending(stage::terminating, from_term_to_kill);
  }
  if (!next_stage_ || *next_stage_ > now) return;
  const bool term = stage_ == stage::grace_period;
  signal_all(term ? SIGTERM : SIGKILL);
  stage_ = term ? stage::terminating : stage::killing;
  next_stage_ = deadline{from_term_to_kill}.at();
}

void job::signal_all(int number) {
  for (const pe_process& process : processes_)
    if (!process.status) process.signal_group(number);
}

void job::clean_up() {
  for (const pe_process& process : processes_) process.signal_group(SIGKILL);
  for (const pe_process& process : processes_) process.reap();
  processes_.clear();
  end_orphans();
  pass_on_the_rest();
}

void job::pass_on_the_rest() {
  constexpr milliseconds most{1000};
  deadline limit{most};
  for (;;) {
    output_.flush();
    errors_.flush();
    streams_.remove_if([](tagged_stream& stream) { return !stream.held_up() && !stream.pump(); });
    const bool reader_is_slow = output_.full() || errors_.full();
    if (streams_.empty() && !reader_is_slow) return;
    // The job waits for the reader of the output as long as necessary, unless a signal or --timeout has ended the job.
    if (reader_is_slow && !told_to_end_) limit = deadline{most};
    if (limit.expired()) break;
    pollfd awaited[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                        {.fd = output_.full() ? output_.fd() : -1, .events = POLLOUT, .revents = 0},
                        {.fd = errors_.full() ? errors_.fd() : -1, .events = POLLOUT, .revents = 0}};
    (void)::poll(awaited, std::size(awaited), reader_is_slow ? static_cast<int>(limit.left().count()) : 1);
    handle_signals();
    advance();
  }
  streams_.clear();
}

bool job::all_ended() const {
  return std::all_of(processes_.begin(), processes_.end(),
                     [](const pe_process& process) { return process.status.has_value(); });
}

std::optional<clock::time_point> job::next_wake() const {
  std::optional<clock::time_point> first = hubs_.due();
  for (const auto& other : {next_stage_, time_is_up_})
    if (other) first = first ? std::min(*first, *other) : *other;
  return first;
}

}  // namespace pgas::boot
