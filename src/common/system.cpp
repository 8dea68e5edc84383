#include "common/system.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

std::string errno_text(int number) { return std::generic_category().message(number); }

void throw_system(std::string_view what, int number) {
  throw error(code::system, fmt::format("{}: {}", what, errno_text(number)));
}

void throw_system(std::string_view what) { throw_system(what, errno); }

std::thread start_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread started(std::move(body));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_setname_np(started.native_handle(), name);
    return started;
  } catch (const std::exception& why) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw error(code::system,
                fmt::format("starting a thread: {}. Raise the limit on processes (`ulimit -u`, or that of the "
                            "container), or leave it more memory",
                            why.what()));
  }
}

}  // namespace pgas::detail
