#include "host/failure/signal_bell.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "common/unforked_fd.hpp"

namespace pgas::detail {

namespace {

/// The bells of this process. A child of fork() makes its own bells, and does not ring the bells of its parent.
struct bells {
  bells() {
    for (std::atomic<int>& one : fds) one = -1;
  }
  std::mutex mutex;                      ///< the thread that adds a bell holds this lock
  std::array<std::atomic<int>, 64> fds;  ///< a descriptor; -1: free
  const pid_t process = ::getpid();
};

/// The bells that the handler reads. An object of this type is never destroyed.
std::atomic<const bells*> to_ring{nullptr};

extern "C" void pgas_on_sigusr1(int) {
  const int kept = errno;
  const bells* const all = to_ring.load(std::memory_order_acquire);
  if (all != nullptr && all->process == ::getpid())
    for (const std::atomic<int>& one : all->fds) {
      const int fd = one.load(std::memory_order_acquire);
      const std::uint64_t ring = 1;
      if (fd >= 0 && ::write(fd, &ring, sizeof ring) < 0) continue;  // the bell rings already
    }
  errno = kept;
}

/// Installs the handler. Returns whether the handler is installed.
bool take_signal() {
  struct sigaction now {};
  ::sigaction(SIGUSR1, nullptr, &now);
  const bool simple = (now.sa_flags & SA_SIGINFO) == 0;
  if (simple && now.sa_handler == &pgas_on_sigusr1) return true;
  if (!simple || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)) return false;
  struct sigaction mine {};
  mine.sa_handler = &pgas_on_sigusr1;
  mine.sa_flags = SA_RESTART;
  ::sigemptyset(&mine.sa_mask);
  return ::sigaction(SIGUSR1, &mine, nullptr) == 0;
}

}  // namespace

signal_bell::signal_bell(log::logger& log) {
  bells& all = of_this_process<bells>();
  const std::lock_guard lock(all.mutex);
  unique_fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  to_ring.store(&all, std::memory_order_release);
  const auto free = std::ranges::find_if(all.fds, [](const std::atomic<int>& one) { return one.load() < 0; });
  if (!bell || free == all.fds.end()) {
    log.warn("PGAS_SIGUSR1 has no effect on this world: {}",
             bell ? "too many worlds of this process have it" : "no eventfd can be made, raise the limit (ulimit -n)");
  } else if (!take_signal()) {
    log.warn(
        "PGAS_SIGUSR1 has no effect: the program handles SIGUSR1 itself. Its handler may have a thread call "
        "world.waits(); pgas-why needs no signal");
  } else {
    bell_ = std::move(bell);
    free->store(bell_.get(), std::memory_order_release);
  }
}

signal_bell::~signal_bell() {
  if (!bell_) return;
  bells& all = of_this_process<bells>();
  const std::lock_guard lock(all.mutex);
  for (std::atomic<int>& one : all.fds)
    if (one.load() == bell_.get()) one.store(-1, std::memory_order_release);
}

void signal_bell::silence() noexcept {
  eventfd_t rings = 0;
  ::eventfd_read(bell_.get(), &rings);
}

}  // namespace pgas::detail
