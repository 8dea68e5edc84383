#include "common/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/process_identity.hpp"
#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

constexpr mode_t mode = 0644;

bool trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

std::string belongs_to_other(const std::string& path, const char* kind, uid_t owner) {
  return fmt::format("{} is a {} of user {}: remove it, or name a file in a directory of your own", path, kind, owner);
}

}  // namespace

std::string output_file_name(std::string_view pattern, std::optional<int> pe) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
      continue;
    }
    const char which = pattern[++i];
    if (which == 'h')
      path += host_name();
    else if (which == 'p')
      path += std::to_string(getpid());
    else if (which == '%')
      path += '%';
    else if (which == 'r' && pe)
      path += std::to_string(*pe);
    else
      path.append(pattern.substr(i - 1, 2));
  }
  return path;
}

bool names_process(std::string_view pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    const char which = pattern[++i];
    if (which == 'p' || which == 'r') return true;
  }
  return false;
}

unique_fd open_output_file(const std::string& path, int disposition, std::string& why) {
  struct stat found {};
  // open() follows symbolic links that belong to this user or to root, for example /dev/stderr. In a directory with the
  // sticky bit, only the owner of a link can replace it.
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

int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace pgas::detail
