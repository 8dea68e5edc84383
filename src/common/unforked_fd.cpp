#include "common/unforked_fd.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace pgas::detail {

namespace {

/// The registered descriptors. The registry is never destroyed, because static objects can close their descriptors
/// while the process ends.
struct registry {
  std::mutex mutex;
  std::set<int> open;

  static registry& instance() {
    static registry& instance = *new registry;
    // Without these fork handlers, a mutex that another thread holds during fork() would stay locked in the child.
    [[maybe_unused]] static const int handled =
        ::pthread_atfork([] { instance.mutex.lock(); }, [] { instance.mutex.unlock(); },
                         [] {
                           for (const int fd : instance.open) ::close(fd);
                           instance.open.clear();
                           instance.mutex.unlock();
                         });
    return instance;
  }
};

}  // namespace

void close_after_fork(int fd) {
  registry& all = registry::instance();
  const std::lock_guard lock(all.mutex);
  all.open.insert(fd);
}

void keep_after_fork(int fd) noexcept {
  registry& all = registry::instance();
  const std::lock_guard lock(all.mutex);
  all.open.erase(fd);
}

}  // namespace pgas::detail
