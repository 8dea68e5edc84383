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
#include <string_view>

#include "common/net/address.hpp"
#include "common/process_identity.hpp"
#include "common/unique_fd.hpp"
#include "host/config/read_environment.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

using config_detail::environment;

namespace {

/// Whether pgas excludes TCP. pgas excludes TCP between hosts if the network is not private and the user has chosen no
/// transports.
bool excludes_tcp_between_hosts(const ucx_settings& settings) {
  return !settings.one_host && !settings.private_network && !environment::of_process().get("UCX_TLS");
}

}  // namespace

std::string net_devices(std::vector<std::string> interfaces, const std::filesystem::path& infiniband) {
  if (interfaces.empty()) return {};
  std::sort(interfaces.begin(), interfaces.end());
  interfaces.erase(std::unique(interfaces.begin(), interfaces.end()), interfaces.end());
  const std::vector<std::string> ports = rdma_ports(infiniband);
  interfaces.insert(interfaces.end(), ports.begin(), ports.end());
  return fmt::format("{}", fmt::join(interfaces, ","));
}

std::string memory_namespaces() {
  std::string all;
  for (const char* kind : {"ipc", "pid", "net"}) all += fmt::format("{} {} ", kind, own_namespace(kind));
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

std::vector<ucx_default> ucx_defaults(const ucx_settings& settings) {
  std::vector<ucx_default> all;
  if (!settings.devices.empty()) {
    all.push_back({"UCX_NET_DEVICES", settings.devices});
    all.push_back({"UCX_WARN_INVALID_CONFIG", "n"});  // no warning if UCX has no transport for a device
  }
  if (!settings.one_host)
    all.push_back({"UCX_TLS", settings.private_network ? "^shm" : "^shm,tcp"});
  else if (settings.without_tcp)
    all.push_back({"UCX_TLS", "^tcp"});
  // With error handling, UCX uses shared memory only if this option is set. UCX then detects dead peers by keepalives,
  // by default every 20 s.
  if (may_use_shared_memory(settings)) all.push_back({"UCX_MM_ERROR_HANDLING", "y"});
  all.push_back({"UCX_KEEPALIVE_INTERVAL", "1s"});
  const environment variables = environment::of_process();
  std::erase_if(all, [&](const ucx_default& each) { return variables.get(each.variable).has_value(); });
  return all;
}

void check_network(const ucx_settings& settings, const std::filesystem::path& infiniband) {
  if (!excludes_tcp_between_hosts(settings) || !rdma_ports(infiniband).empty()) return;
  throw error{
      code::transport_failed,
      fmt::format(
          "the PEs are on several hosts, and this host has no InfiniBand or RoCE port, so UCX would use TCP{}{}. "
          "UCX does not authenticate TCP connections: any process that can connect can end this job and change "
          "its memory. If only trusted hosts and users can connect, set PGAS_PRIVATE_NETWORK=1 on all PEs "
          "(docs/security.md)",
          settings.devices.empty() ? "" : " on ", settings.devices)};
}

std::string why_unreachable(const ucx_settings& settings) {
  return excludes_tcp_between_hosts(settings)
             ? "; UCX may use TCP between hosts only if PGAS_PRIVATE_NETWORK=1 declares the network private"
             : "";
}

bool may_use_shared_memory(const ucx_settings& settings) {
  if (!settings.one_host) return false;
  // The variable lists transports to use or, after a ^, transports not to use.
  const environment variables = environment::of_process();
  const std::string_view list = variables.get("UCX_TLS").value_or("all");
  const auto names = {"all", "shm", "sm", "mm", "posix", "sysv"};
  const bool named =
      std::any_of(names.begin(), names.end(), [&](const char* name) { return list.find(name) != list.npos; });
  return named != list.starts_with('^');
}

#ifdef PGAS_WITHOUT_UCX
std::unique_ptr<transport> make_ucx_transport(const ucx_settings&) {
  throw error{code::transport_failed,
              "this library was built without UCX. Build it where libucx-dev is installed (PGAS_UCX=ON)"};
}
#endif

}  // namespace pgas::detail
