#include "host/transport/ucx_settings.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace pgas::detail {

std::string net_devices(std::vector<std::string> interfaces, const std::filesystem::path& infiniband) {
  if (interfaces.empty()) return {};
  std::sort(interfaces.begin(), interfaces.end());
  interfaces.erase(std::unique(interfaces.begin(), interfaces.end()), interfaces.end());
  std::error_code none;
  std::vector<std::string> ports;
  for (const auto& device : std::filesystem::directory_iterator(infiniband, none)) {
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports", none)) {
      std::string state;  // "4: ACTIVE"
      std::getline(std::ifstream(port.path() / "state"), state);
      if (state.find("ACTIVE") == state.npos) continue;
      ports.push_back(fmt::format("{}:{}", device.path().filename().string(), port.path().filename().string()));
    }
  }
  std::sort(ports.begin(), ports.end());
  interfaces.insert(interfaces.end(), ports.begin(), ports.end());
  return fmt::format("{}", fmt::join(interfaces, ","));
}

std::string memory_namespaces() {
  std::string all;
  for (const char* kind : {"ipc", "pid", "net"}) {
    struct stat about {};
    if (::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &about) == 0)
      all += fmt::format("{} {}:{} ", kind, about.st_dev, about.st_ino);
  }
  return all;
}

#ifdef PGAS_WITHOUT_UCX
std::unique_ptr<transport> make_ucx_transport(const ucx_settings&) {
  throw error{code::transport_failed,
              "this library was built without UCX. Build it where libucx-dev is installed (PGAS_UCX=ON)"};
}
#endif

}  // namespace pgas::detail
