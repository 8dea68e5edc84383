#include "host/compat/common/global_exit.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace pgas::compat {

namespace {

constexpr std::string_view mark = " ends the processes of all PEs with status ";

/// The exit status in the message of a failure, if another PE has called global_exit.
std::optional<int> status_in(std::string_view message) {
  const std::size_t at = message.find(mark);
  if (at == message.npos) return std::nullopt;
  int status = 0;
  const char* const first = message.data() + at + mark.size();
  const auto read = std::from_chars(first, message.data() + message.size(), status);
  return read.ec == std::errc{} ? std::optional<int>(status) : std::nullopt;
}

}  // namespace

std::string exit_reason(std::string_view function, int status) { return fmt::format("{}{}{}", function, mark, status); }

void end_process(int status) noexcept {
  // One thread ends the process, others wait for that: the monitor's and one in a call may both be here, and quick_exit
  // by the second would end the process while the first one is still in a handler.
  static std::mutex ending;
  ending.lock();
  std::fflush(nullptr);
  if (status == 0) std::quick_exit(0);  // runs the handlers with which bootstraps report success to the launcher
  std::_Exit(status);
}

void exit_if_requested(const error& failure) noexcept {
  if (failure.code() != code::aborted) return;
  const std::optional<int> status = status_in(failure.what());
  if (!status) return;
  // The PE that called global_exit ends first: launchers report the first that ends, and take its status.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  end_process(*status);
}

global_exit_monitor::global_exit_monitor(const world& joined) : world_(joined), thread_([this] { run(); }) {}

global_exit_monitor::~global_exit_monitor() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void global_exit_monitor::run() {
  constexpr auto pause = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, pause, [this] { return ends_; })) {
    try {
      world_.check();
    } catch (const error& failure) {
      exit_if_requested(failure);
      return;
    }
  }
}

}  // namespace pgas::compat
