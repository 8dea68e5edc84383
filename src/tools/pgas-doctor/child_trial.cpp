#include "tools/pgas-doctor/child_trial.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/deadline.hpp"
#include "common/output_file.hpp"

namespace pgas::doctor {

trial try_in_child(std::chrono::milliseconds limit, const std::function<std::string()>& call) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {std::nullopt, fmt::format("pipe: {}", std::strerror(errno))};
  const detail::unique_fd out(ends[0]);
  detail::unique_fd in(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {std::nullopt, fmt::format("fork: {}", std::strerror(errno))};
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::string result;
    try {
      result = "+" + call();
    } catch (const std::exception& why) {
      result = std::string("-") + why.what();
    }
    static_cast<void>(detail::write_all(in.get(), result));
    ::_exit(0);
  }
  in.reset();
  const detail::deadline until(limit);
  std::string text;
  bool late = false;
  for (;;) {
    pollfd readable{out.get(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(until.left().count()));
    if (ready < 0 && errno == EINTR) continue;
    late = ready == 0;
    if (ready <= 0) break;
    char part[4096];
    const ssize_t got = ::read(out.get(), part, sizeof part);
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  if (late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return {std::nullopt, fmt::format("{} {} s", did_not_end, limit.count() / 1000)};
  if (WIFSIGNALED(status))
    return {std::nullopt, fmt::format("signal {} ({}) ended it", WTERMSIG(status), ::strsignal(WTERMSIG(status)))};
  if (text.starts_with('+')) return {text.substr(1), ""};
  if (text.starts_with('-')) return {std::nullopt, text.substr(1)};
  return {std::nullopt, fmt::format("it ended with status {}", WEXITSTATUS(status))};
}

}  // namespace pgas::doctor
