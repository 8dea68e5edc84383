// The worker's side of an examination: messages to the supervisor, one line of JSON each, and tests in child processes.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/deadline.hpp"
#include "tools/pgas-doctor/examination.hpp"

namespace pgas::doctor {

namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the supervisor has ended, so no process reads the message; this process will end too
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void journal::tell(const nlohmann::json& message) {
  write_all(to_.get(), message.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
}

void journal::begin(const std::string& step, std::chrono::milliseconds limit) {
  tell({{"begin", step}, {"limit_ms", limit.count()}});
}

void journal::add(const row& found) {
  rows_.push_back(found);
  tell({{"row", to_json(found)}});
}

void journal::about(const subject& what) {
  nlohmann::json pairs = nlohmann::json::array();
  for (const pair_route& each : what.pairs)
    pairs.push_back({each.from, each.to, each.direct, each.route, each.lanes, each.gigabytes_per_second});
  tell({{"pe", what.pe}, {"n_pes", what.n_pes}, {"hosts", what.hosts}, {"started", what.started}, {"pairs", pairs}});
}

void journal::end(const std::vector<row>& rows, bool alone) {
  nlohmann::json all = nlohmann::json::array();
  for (const row& each : rows) all.push_back(to_json(each));
  tell({{"rows", all}, {"alone", alone}});
}

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
    write_all(in.get(), result);
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
