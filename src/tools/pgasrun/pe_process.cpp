#include "src/tools/pgasrun/pe_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "common/net/socket.hpp"
#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

[[nodiscard]] std::pair<unique_fd, unique_fd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_system("pipe");
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

/// Replaces this process by the program. Returns only on failure, with errno set. Runs between fork and exec of a
/// process with one thread, so any function may be called.
void become(int rank, int size, const std::vector<std::string>& command, int requests, int output, int errors,
            pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before the call of prctl()
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  if (rank != 0 || ::isatty(STDIN_FILENO) == 1) {
    const unique_fd nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    ::dup2(nothing.get(), STDIN_FILENO);
  }
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  ::fcntl(requests, F_SETFD, 0);
  ::setenv("PGAS_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("PGAS_SIZE", std::to_string(size).c_str(), 1);
  ::setenv("PGAS_LOCAL_FD", std::to_string(requests).c_str(), 1);

  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

[[nodiscard]] error cannot_start(const std::string& program, int number) {
  const char* hint = "";
  if (number == ENOENT)
    hint = program.find('/') == std::string::npos ? ". It is not on PATH; a program of this folder is written ./name"
                                                  : ". Check the path";
  if (number == EACCES) hint = ". It is not executable: chmod +x";
  return {code::system, fmt::format("cannot start '{}': {}{}", program, errno_text(number), hint)};
}

}  // namespace

pe_process pe_process::start(int rank, int size, const std::vector<std::string>& command, bool tagged) {
  auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
  pe_process process;
  process.rank = rank;
  process.requests = std::move(ours);
  unique_fd output;
  unique_fd errors;
  if (tagged) {
    std::tie(process.output, output) = make_pipe();
    std::tie(process.errors, errors) = make_pipe();
  }

  auto [outcome, report] = make_pipe();  // a pipe for the errno of exec; a successful exec closes the pipe
  const pid_t parent = ::getpid();
  process.pid = ::fork();
  if (process.pid < 0) throw_system("fork");
  if (process.pid == 0) {
    become(rank, size, command, theirs.get(), output.get(), errors.get(), parent);
    const int number = errno;
    (void)!::write(report.get(), &number, sizeof number);
    ::_exit(127);
  }
  report.reset();
  int number = 0;
  ssize_t got = 0;
  while ((got = ::read(outcome.get(), &number, sizeof number)) < 0 && errno == EINTR) {
  }
  if (got > 0) {
    process.reap();
    throw cannot_start(command.front(), number);
  }
  return process;
}

bool pe_process::has_ended() {
  if (status) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid)
    return false;
  status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return true;
}

bool pe_process::has_ended_within(milliseconds limit) {
  const deadline until{limit};
  while (!has_ended()) {
    if (until.expired()) return false;
    std::this_thread::sleep_for(milliseconds{1});
  }
  return true;
}

std::string pe_process::how_it_ended() const {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", info.si_status);
  return fmt::format("was killed by signal {} ({})", info.si_status, ::strsignal(info.si_status));
}

void pe_process::signal_group(int number) const {
  ::kill(-pid, number);
  if (!status) ::kill(pid, number);  // perhaps the process has not made its group yet
}

void pe_process::reap() const {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace pgas::boot
