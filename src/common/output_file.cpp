#include "common/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

constexpr mode_t mode = 0644;

bool trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

std::string belongs_to_other(const std::string& path, const char* kind, uid_t owner) {
  return fmt::format("{} is a {} of user {}: remove it, or name a file in a directory of your own", path, kind, owner);
}

}  // namespace

unique_fd open_output_file(const std::string& path, int disposition, std::string& why) {
  struct stat found {};
  // Links that belong to this user or to root are followed, for example /dev/stderr. In a directory with the sticky
  // bit, only the owner of a link can replace it.
  const bool is_link = ::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
  if (is_link && !trusted(found.st_uid)) {
    why = belongs_to_other(path, "symbolic link", found.st_uid);
    return {};
  }
  // Without O_NONBLOCK, opening a FIFO waits for a reader. O_TRUNC would truncate the file before the owner is known.
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (disposition & ~O_TRUNC);
  unique_fd file(::open(path.c_str(), is_link ? flags : flags | O_NOFOLLOW, mode));
  if (!file) {
    why = errno_text(errno) + "; name a file in a directory that exists and is writable";
    return {};
  }
  if (::fstat(file.get(), &found) != 0) {
    why = errno_text(errno);
    return {};
  }
  if (S_ISREG(found.st_mode)) {
    if (!trusted(found.st_uid)) {
      why = belongs_to_other(path, "file", found.st_uid);
      return {};
    }
    if ((disposition & O_TRUNC) != 0 && ::ftruncate(file.get(), 0) != 0) {
      why = errno_text(errno);
      return {};
    }
  }
  ::fcntl(file.get(), F_SETFL, disposition & O_APPEND);
  return file;
}

}  // namespace pgas::detail
