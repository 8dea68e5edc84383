#include "device/cpu/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace pgas::detail {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number that a file consists of; none where there is no such file or it says "max".
std::optional<std::size_t> epoch_in(const std::string& path) {
  std::size_t value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

/// A row of /proc/meminfo, in bytes.
std::optional<std::size_t> meminfo(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::size_t kib = 0;
    if (std::istringstream(line.substr(name.size() + 1)) >> kib) return kib * 1024;
  }
  return std::nullopt;
}

std::size_t rest(std::optional<std::size_t> limit, std::optional<std::size_t> used) {
  if (!limit) return unlimited;
  return *limit - std::min(*limit, used.value_or(0));
}

/// What the control group of this process leaves, in the old hierarchy and in the unified one. A container sees its own
/// group at the root of the hierarchy, whatever /proc/self/cgroup calls it.
std::size_t control_group_rest() {
  std::size_t least = unlimited;
  const auto check_abort = [&least](const std::string& folder, const char* limit, const char* used) {
    least = std::min(least, rest(epoch_in(folder + limit), epoch_in(folder + used)));
  };
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty())
      check_abort("/sys/fs/cgroup" + path, "/memory.max", "/memory.current");
    else if (controllers == "memory")
      check_abort("/sys/fs/cgroup/memory" + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  }
  check_abort("/sys/fs/cgroup", "/memory.max", "/memory.current");
  check_abort("/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  return least;
}

}  // namespace

std::size_t physical_memory() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
}

bool strict_overcommit() { return epoch_in("/proc/sys/vm/overcommit_memory") == std::size_t{2}; }

std::size_t available_memory() {
  std::size_t least = std::min(meminfo("MemAvailable").value_or(physical_memory()), control_group_rest());
  if (strict_overcommit()) least = std::min(least, rest(meminfo("CommitLimit"), meminfo("Committed_AS")));
  return least;
}

}  // namespace pgas::detail
