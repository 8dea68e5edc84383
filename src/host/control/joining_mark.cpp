#include "host/control/joining_mark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>

#include "common/deadline.hpp"
#include "common/unforked_fd.hpp"

namespace pgas::detail {

namespace {

constexpr int may_look = 1024;  // the number of programs that may connect at the same time

std::string text_of(int number) { return number < 0 ? "x" : std::to_string(number); }

}  // namespace

joining_mark::joining_mark(const std::string& directory, int pe, int n) noexcept {
  static std::atomic<int> made{0};
  if (n == 1) return;
  try {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now().time_since_epoch());
    listener_.emplace(unix_address(directory, fmt::format("{}{}-{}-{}-{}.{}", joining_socket_prefix, text_of(n),
                                                          text_of(pe), now.count(), ::getpid(), made.fetch_add(1))),
                      may_look);
    close_after_fork(listener_->fd());
  } catch (const std::exception&) {
    listener_.reset();  // the mark is optional; a socket that joining needs reports the cause
  }
}

joining_mark::~joining_mark() {
  if (listener_) keep_after_fork(listener_->fd());
}

}  // namespace pgas::detail
