#include "host/transport/ucx/ucx_settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "common/unique_fd.hpp"
#include "host/log/format_bytes.hpp"

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

shared_memory_room look_at_shared_memory() {
  constexpr const char* folder = "/dev/shm";
  std::string name = fmt::format("{}/pgas-room-XXXXXX", folder);
  const unique_fd file(::mkostemp(name.data(), O_CLOEXEC));
  struct statvfs about {};
  if (!file || ::unlink(name.c_str()) != 0 || ::fstatvfs(file.get(), &about) != 0)
    return {0, fmt::format("no file can be made in {}: {}", folder, std::strerror(errno))};
  const std::size_t free = static_cast<std::size_t>(about.f_bavail) * about.f_frsize;
  const std::size_t all = static_cast<std::size_t>(about.f_blocks) * about.f_frsize;
  return {free, fmt::format("{} of the {} of {} are free", format_bytes(free), format_bytes(all), folder)};
}

#ifdef PGAS_WITHOUT_UCX
std::unique_ptr<transport> make_ucx_transport(const ucx_settings&) {
  throw error{code::transport_failed,
              "this library was built without UCX. Build it where libucx-dev is installed (PGAS_UCX=ON)"};
}
#endif

}  // namespace pgas::detail
