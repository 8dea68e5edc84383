// The supervisor's side of an examination: waits for the worker's messages and prints them. The supervisor joins no
// world and loads no library.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/deadline.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/child_trial.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/report.hpp"

namespace pgas::doctor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds to_begin{30'000};
constexpr milliseconds to_end{10'000};
constexpr std::size_t most_said = std::size_t{64} << 10;

/// A pipe that is closed in programs that child processes start.
struct channel {
  channel() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw error(code::system, fmt::format("pipe: {}; raise the limit (ulimit -n)", std::strerror(errno)));
    out = detail::unique_fd(ends[0]);
    in = detail::unique_fd(ends[1]);
  }
  detail::unique_fd out;
  detail::unique_fd in;
};

/// The state of the worker.
class examination {
 public:
  examination(const request& how, pid_t worker, detail::unique_fd told, detail::unique_fd said,
              detail::unique_fd signals)
      : how_(how), worker_(worker), told_(std::move(told)), said_(std::move(said)), signals_(std::move(signals)) {}

  int run() {
    progress line;
    while (!ended_) {
      pollfd watched[] = {{told_.get(), POLLIN, 0}, {said_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      const int ready = ::poll(watched, 3, static_cast<int>(until_.left().count()));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return overdue(line);
      if (watched[2].revents != 0) return interrupted(line);
      if (watched[1].revents != 0) listen();
      if (watched[0].revents != 0 && !hear(line)) return died(line);
    }
    line.clear();
    reap();
    return print(rows_, alone_);
  }

 private:
  /// Reads the worker's messages. False if the worker has ended without its last message.
  bool hear(progress& line) {
    char part[16384];
    const ssize_t got = ::read(told_.get(), part, sizeof part);
    if (got <= 0) return ended_;
    text_.append(part, static_cast<std::size_t>(got));
    for (std::size_t stop = text_.find('\n'); stop != std::string::npos; stop = text_.find('\n')) {
      take(nlohmann::json::parse(text_.substr(0, stop)), line);
      text_.erase(0, stop + 1);
    }
    return true;
  }

  void take(const nlohmann::json& message, progress& line) {
    if (message.contains("begin")) {
      step_ = message["begin"].get<std::string>();
      limit_ = milliseconds(message["limit_ms"].get<long long>());
      until_ = detail::deadline(limit_);
      if (what_.pe <= 0) line.show(step_);
    } else if (message.contains("row")) {
      rows_.push_back(row_from(message["row"]));
    } else if (message.contains("rows")) {
      rows_.clear();
      for (const nlohmann::json& each : message["rows"]) rows_.push_back(row_from(each));
      ended_ = true;
      alone_ = message["alone"].get<bool>();
    } else {
      what_ = {message["pe"].get<int>(),
               message["n_pes"].get<int>(),
               message["hosts"].get<int>(),
               message["started"].get<std::string>(),
               {}};
      for (const nlohmann::json& each : message["pairs"])
        what_.pairs.push_back({each[0].get<int>(), each[1].get<int>(), each[2].get<bool>(), each[3].get<std::string>(),
                               each[4].get<std::string>(), each[5].get<double>()});
    }
  }

  /// Keeps the last part of the text that libraries print in the worker.
  void listen() {
    char part[4096];
    const ssize_t got = ::read(said_.get(), part, sizeof part);
    if (got <= 0) {
      said_.reset();  // poll() ignores the descriptor -1
      return;
    }
    if (how_.verbose) (void)!::write(STDERR_FILENO, part, static_cast<std::size_t>(got));
    words_.append(part, static_cast<std::size_t>(got));
    if (words_.size() > most_said) words_.erase(0, words_.size() - most_said);
  }

  int overdue(progress& line) {
    line.clear();
    ::kill(worker_, SIGKILL);
    reap();
    rows_.push_back({step_, verdict::fails, fmt::format("{} {} s{}", did_not_end, limit_.count() / 1000, last_words()),
                     "a program hangs here, or fails after PGAS_JOIN_TIMEOUT",
                     "PGAS_LOG=debug pgas-doctor --verbose shows the steps"});
    return print_alone();
  }

  int died(progress& line) {
    line.clear();
    const int status = reap();
    while (said_) listen();
    rows_.push_back({step_, verdict::fails,
                     WIFSIGNALED(status) ? fmt::format("signal {} ({}) ended the process{}", WTERMSIG(status),
                                                       ::strsignal(WTERMSIG(status)), last_words())
                                         : fmt::format("a library ended the process with status {}{}",
                                                       WEXITSTATUS(status), last_words()),
                     "a program would end in the same way", "pgas-doctor --verbose shows what libraries print before"});
    return print_alone();
  }

  int interrupted(progress& line) {
    signalfd_siginfo which{};
    (void)!::read(signals_.get(), &which, sizeof which);
    line.clear();
    ::kill(worker_, SIGKILL);
    reap();
    fmt::print(stderr, "pgas-doctor: stopped by signal {} at: {}\n", which.ssi_signo, step_);
    return 128 + static_cast<int>(which.ssi_signo);
  }

  /// Prints the rows on this PE, because the worker could not send them to PE 0.
  int print_alone() { return print(rows_, true); }

  int print(const std::vector<row>& rows, bool alone) const {
    const bool first = what_.pe <= 0;
    if (first)
      report(how_, what_, rows);
    else if (alone)
      complain(what_, rows);
    return worst_of(rows) == verdict::fails && (first || alone) ? 1 : 0;
  }

  /// Waits for the end of the worker, with a time limit.
  int reap() {
    int status = 0;
    const detail::deadline until(to_end);
    while (::waitpid(worker_, &status, WNOHANG) == 0) {
      if (until.expired()) ::kill(worker_, SIGKILL);
      pollfd output{said_.get(), POLLIN, 0};  // the worker might wait until its output is read
      if (::poll(&output, 1, 5) > 0) listen();
    }
    return status;
  }

  [[nodiscard]] std::string last_words() const {
    const std::size_t end = words_.find_last_not_of('\n');
    if (end == std::string::npos) return {};
    const std::size_t begin = words_.rfind('\n', end);
    return ": " + words_.substr(begin == std::string::npos ? 0 : begin + 1,
                                end - (begin == std::string::npos ? 0 : begin + 1) + 1);
  }

  const request& how_;
  const pid_t worker_;
  detail::unique_fd told_;
  detail::unique_fd said_;
  detail::unique_fd signals_;
  std::string text_;
  std::string words_;
  std::string step_ = "beginning";
  milliseconds limit_ = to_begin;
  detail::deadline until_{to_begin};
  subject what_;
  std::vector<row> rows_;
  bool ended_ = false;
  bool alone_ = false;  ///< the rows are not known to PE 0
};

}  // namespace

int examine(const request& how, const std::function<void(journal&)>& work) {
  channel telling;
  channel saying;
  sigset_t ends;
  sigset_t before;
  ::sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, &before);
  const pid_t parent = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0)
    throw error(code::system,
                fmt::format("fork: {}; raise the limit on processes (ulimit -u, or that of the container)",
                            std::strerror(errno)));
  if (worker == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent has already ended
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);  // a terminal sends the signal to both processes, and only the supervisor handles it
    ::dup2(saying.in.get(), STDOUT_FILENO);
    ::dup2(saying.in.get(), STDERR_FILENO);
    for (detail::unique_fd* each : {&saying.in, &saying.out, &telling.out}) each->reset();
    journal to(std::move(telling.in));
    try {
      work(to);
    } catch (const std::exception& why) {
      to.add({"doctor", verdict::fails, why.what(), "the examination ended early", "pgas-doctor --verbose says more"});
      to.end(to.rows());
    }
    std::exit(0);  // a PMIx launcher expects its clients to end in the regular way
  }
  telling.in.reset();
  saying.in.reset();
  examination run(how, worker, std::move(telling.out), std::move(saying.out),
                  detail::unique_fd(::signalfd(-1, &ends, SFD_CLOEXEC)));
  return run.run();
}

}  // namespace pgas::doctor
