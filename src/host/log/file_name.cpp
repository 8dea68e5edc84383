#include "host/log/file_name.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>

namespace pgas::log {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string file_name(std::string_view pattern, std::optional<int> pe) {
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

}  // namespace pgas::log
