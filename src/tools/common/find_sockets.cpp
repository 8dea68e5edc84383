#include "tools/common/find_sockets.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace pgas::tools {

std::set<found_socket> find_sockets(std::string_view prefix, const std::string& directory) {
  std::set<found_socket> found;  // Linux's table also contains accepted and waiting connections with the same name
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const std::size_t at = line.rfind(" @");
    if (at != std::string::npos && line.substr(at + 2).starts_with(prefix)) found.insert({"", line.substr(at + 2)});
  }
  std::error_code none;
  if (directory.empty()) return found;
  for (auto item = std::filesystem::directory_iterator(directory, none); item != std::filesystem::directory_iterator();
       item.increment(none)) {
    const std::string name = item->path().filename().string();
    if (name.starts_with(prefix)) found.insert({directory, name});
  }
  return found;
}

}  // namespace pgas::tools
