#include "common/process_identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "common/system_error.hpp"
#include "common/unique_fd.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

std::uint64_t process_start(pid_t pid) {
  enum { state = 3, threads = 20, start_time = 22 };  // the numbers of the fields
  const std::string path = fmt::format("/proc/{}/stat", pid);
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == EMFILE || errno == ENFILE))
    throw error(code::system, fmt::format("{}: {}; raise the limit (ulimit -n)", path, errno_text(errno)));
  char text[1024];
  const ssize_t length = file ? ::read(file.get(), text, sizeof text) : 0;
  std::string_view rest(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t name_end = rest.rfind(')');  // the process name before the fields may contain any character
  if (name_end == std::string_view::npos) return 0;
  rest.remove_prefix(name_end + 1);
  bool ended = false;
  for (int field = state; field <= start_time; ++field) {
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return 0;
    rest.remove_prefix(blank + 1);
    if (field == state) ended = rest.starts_with('Z') || rest.starts_with('X');
    // The first thread may have ended while other threads still run.
    if (field == threads && ended && !rest.starts_with("0 ") && !rest.starts_with("1 ")) ended = false;
  }
  std::uint64_t start = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), start);
  return ended ? 0 : start;
}

}  // namespace pgas::detail
