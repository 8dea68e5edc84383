#include "host/transport/ucx/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/unique_fd.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

bool cpu_can_read(const void* address) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw error{code::system, fmt::format("pipe2: {}", std::strerror(errno))};
  const unique_fd out(ends[0]);
  const unique_fd in(ends[1]);
  // The kernel reads it for us and says EFAULT where that does not work.
  return ::write(in.get(), address, 1) == 1;
}

}  // namespace pgas::detail
