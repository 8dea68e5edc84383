// SIGUSR1 as a descriptor. Each test runs in a process of its own, because the handler stays installed.
#include "host/failure/signal_bell.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>

namespace {

using pgas::log_level;
using pgas::detail::signal_bell;

/// The result of `body` in a child process; at least 128 if a signal ended the child.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int child_status = 0;
  ::waitpid(child, &child_status, 0);
  return WIFEXITED(child_status) ? WEXITSTATUS(child_status) : 128 + WTERMSIG(child_status);
}

bool rings(const signal_bell& bell) {
  pollfd one{bell.fd(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(signal_bell, all_ring_and_are_silent_again) {
  EXPECT_EQ(in_child([] {
              pgas::log::logger log(log_level::error);
              signal_bell first(log);
              std::optional<signal_bell> second(std::in_place, log);
              if (first.fd() < 0 || second->fd() < 0 || rings(first)) return 1;
              ::raise(SIGUSR1);
              ::raise(SIGUSR1);
              if (!rings(first) || !rings(*second)) return 2;
              first.silence();
              if (rings(first) || !rings(*second)) return 3;
              second.reset();
              ::raise(SIGUSR1);
              return rings(first) ? 0 : 4;
            }),
            0);
}

TEST(signal_bell, a_late_signal_does_not_end_the_process) {
  EXPECT_EQ(in_child([] {
              pgas::log::logger log(log_level::error);
              { signal_bell one(log); }
              ::raise(SIGUSR1);
              return 0;
            }),
            0);
  EXPECT_EQ(in_child([] { return ::raise(SIGUSR1); }), 128 + SIGUSR1) << "without one it does";
}

volatile std::sig_atomic_t seen = 0;

TEST(signal_bell, a_handler_of_the_program_stays) {
  EXPECT_EQ(in_child([] {
              std::signal(SIGUSR1, [](int) { seen = 1; });
              pgas::log::logger log(log_level::error);
              signal_bell one(log);
              ::raise(SIGUSR1);
              return one.fd() == -1 && seen == 1 && log.count(log_level::warn) == 1 ? 0 : 1;
            }),
            0);
}

TEST(signal_bell, a_child_does_not_ring_for_its_parent) {
  EXPECT_EQ(in_child([] {
              pgas::log::logger log(log_level::error);
              signal_bell one(log);
              const int child = in_child([&] {
                ::raise(SIGUSR1);  // this signal must not end the process
                signal_bell own(log);
                ::raise(SIGUSR1);
                return rings(own) ? 0 : 1;
              });
              return child == 0 && !rings(one) ? 0 : 1;
            }),
            0);
}

}  // namespace
