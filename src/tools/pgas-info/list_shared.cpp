#include "tools/pgas-info/list_shared.hpp"

#include <fmt/format.h>

#include <sstream>

#include "common/printable.hpp"
#include "host/share/exporter_connection.hpp"
#include "pgas/error.hpp"
#include "tools/common/find_sockets.hpp"

namespace pgas_info {

namespace {

constexpr std::chrono::milliseconds patience{2000};

}  // namespace

std::string lines_about(const std::string& list, pid_t pid) {
  if (list.starts_with(fmt::format("process {} ", pid))) return list;
  const std::string importer = fmt::format("  open in process {} ", pid);
  std::istringstream lines(list);
  std::string text;
  std::string thing;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' '))
      thing = line;
    else if (line.starts_with(importer))
      text += thing + "\n" + line + "\n";
  }
  return text;
}

std::string shared_text(const std::string& directory, std::optional<pid_t> pid) {
  std::string text;
  if (!directory.empty()) pgas::detail::sweep_sockets(directory);
  for (const pgas::tools::found_socket& item : pgas::tools::find_sockets(pgas::detail::socket_prefix, directory)) {
    const std::string socket = item.address().text();
    try {
      const std::string list = pgas::detail::list_exports(socket, pgas::detail::deadline(patience));
      text += pid ? lines_about(list, *pid) : list;
    } catch (const pgas::error& why) {
      // An exporter that has ended since the search is left out. If an exporter does not answer, its processes are not
      // known.
      if (why.code() != pgas::code::peer_lost)
        text += fmt::format("{}: {}\n", pgas::detail::printable(socket), pgas::detail::printable(why.what()));
    }
  }
  if (text.empty())
    text = pid ? fmt::format("process {} shares nothing by ticket\n", *pid)
               : "no process of this host shares memory by ticket\n";
  return text;
}

}  // namespace pgas_info
