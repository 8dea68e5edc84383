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

}  // namespace pgas::detail
