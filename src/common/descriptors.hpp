/// @file
/// The descriptors of this process: how many it may have, and which numbers the library's own take.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace pgas::detail {

/// Raises the limit for a job of so many processes, as far as this process may: one or two sockets for each, a pidfd
/// for each of this host, those of UCX over TCP, and on the host heap one for each segment of each. The usual limit is
/// low for the sake of select(), so it is raised only where necessary. If it stays too low, the call that fails reports
/// it.
void allow_descriptors_for(int processes) noexcept;

/// `fd`, moved where its number is one of standard input, output and error: in a process that has closed those, printf
/// would write into the library's sockets and memory. -1 with errno set where there is no other number left.
[[nodiscard]] inline int above_standard(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int why = errno;
  ::close(fd);
  errno = why;
  return moved;
}

/// Opens /dev/null as standard input, output and error where they are closed, and leaves it open: UCX, PMIx and the
/// GPU's driver do not use above_standard().
void fill_standard_descriptors() noexcept;

}  // namespace pgas::detail
