#include "host/transport/shared_memory_room.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/unique_fd.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

shared_memory_room look_at_shared_memory() {
  constexpr const char* folder = "/dev/shm";
  std::string name = fmt::format("{}/pgas-room-XXXXXX", folder);
  const unique_fd file(::mkostemp(name.data(), O_CLOEXEC));
  struct statvfs about {};
  if (!file || ::unlink(name.c_str()) != 0 || ::fstatvfs(file.get(), &about) != 0)
    return {0, fmt::format("no file can be made in {}: {}", folder, std::strerror(errno))};
  const std::size_t free = static_cast<std::size_t>(about.f_bavail) * about.f_frsize;
  const std::size_t all = static_cast<std::size_t>(about.f_blocks) * about.f_frsize;
  return {free, fmt::format("{} of the {} of {} are free", format_bytes(free), format_bytes(all), folder)};
}

}  // namespace pgas::detail
