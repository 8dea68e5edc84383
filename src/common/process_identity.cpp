#include "common/process_identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "common/system_error.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

namespace {

/// The first bytes of a file of /proc. Empty, with errno, if the file cannot be opened.
std::string text_in(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t length = file ? ::read(file.get(), text, sizeof text) : 0;
  return {text, length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

std::optional<process_status> status_of(pid_t pid) {
  enum { state = 3, parent = 4, threads = 20, start_time = 22 };  // the numbers of the fields
  const std::string text = text_in(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');  // the process name precedes the fields and may contain any character
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  process_status found;
  fields >> found.state >> found.parent;
  std::string skipped;
  for (int field = parent + 1; field < threads; ++field) fields >> skipped;
  fields >> found.threads >> skipped >> found.start;
  return found;
}

std::uint64_t process_start(pid_t pid) {
  const std::optional<process_status> found = status_of(pid);
  if (!found && (errno == EMFILE || errno == ENFILE)) throw_system(fmt::format("/proc/{}/stat", pid));
  return found && !found->ended() ? found->start : 0;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string boot_id() { return text_in("/proc/sys/kernel/random/boot_id").substr(0, 36); }

std::string own_namespace(const char* kind) {
  struct stat about {};
  if (::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &about) != 0) return {};
  return fmt::format("{}:{}", about.st_dev, about.st_ino);
}

}  // namespace pgas::detail
