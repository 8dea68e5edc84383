#include "tools/common/text.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace pgas::tools {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text, std::size_t room, std::size_t first) {
  std::vector<std::string> lines;
  std::size_t now = first;
  while (!text.empty()) {
    std::size_t stop = text.size();
    if (stop > now) {
      stop = text.rfind(' ', now);
      if (stop == std::string_view::npos || stop == 0) stop = now;
    }
    lines.emplace_back(text.substr(0, stop));
    text.remove_prefix(stop);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    now = room;
  }
  return lines;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column) {
  std::string out;
  for (const std::string& line : lines_of(text, width - indent, width - column)) {
    if (!out.empty()) out += '\n' + std::string(indent, ' ');
    out += line;
  }
  return out;
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent == 0 || line.size() <= width)
      out += line;
    else
      out += std::string(indent, ' ') + wrapped(line.substr(indent), width, indent, indent);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1 && ::tcgetsid(descriptor) == ::getsid(0); }

bool wants_colour() { return is_terminal(STDOUT_FILENO) && variable("NO_COLOR").empty() && variable("TERM") != "dumb"; }

std::size_t columns_or(std::size_t otherwise) {
  winsize window{};
  if (!is_terminal(STDOUT_FILENO) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
    return otherwise;
  return window.ws_col;
}

}  // namespace pgas::tools
