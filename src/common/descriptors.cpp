#include "common/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace pgas::detail {

void allow_descriptors_for(int processes) noexcept {
  const auto needed = static_cast<rlim_t>(256 + 9 * processes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

void fill_standard_descriptors() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", O_RDWR) < 0)
      return;  // takes the lowest number
}

}  // namespace pgas::detail
