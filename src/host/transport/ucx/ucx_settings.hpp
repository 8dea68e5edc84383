/// @file
/// The settings of the UCX transport, its requirements on the system, and its factory. By default UCX uses all network
/// devices of the host and listens on them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas::log {
class logger;
}

namespace pgas::detail {

/// `interfaces` and the active ports of InfiniBand, in the format of UCX_NET_DEVICES. Empty if `interfaces` is empty.
/// @param infiniband the operating system's list of ports
[[nodiscard]] std::string net_devices(std::vector<std::string> interfaces,
                                      const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// A text that is equal in processes of one host that can share memory by name.
[[nodiscard]] std::string memory_namespaces();

/// The state of /dev/shm, which UCX uses to pass data between the PEs of a host.
struct shared_memory_room {
  std::size_t free = 0;  ///< the free bytes
  std::string found;     ///< "12 KiB of the 1 MiB of /dev/shm are free", or why no file can be made there
};

/// Checks /dev/shm by making a temporary file in it.
[[nodiscard]] shared_memory_room look_at_shared_memory();

/// The number of bytes that a PE uses in /dev/shm, and a text about how to make /dev/shm larger.
inline constexpr std::size_t shared_memory_of_pe = std::size_t{5} << 20;
inline constexpr const char* more_shared_memory =
    "mount -o remount,size=1g /dev/shm, or mount -t tmpfs tmpfs /dev/shm (docker run --shm-size=1g); or UCX_TLS=tcp, "
    "which is slow";

struct ucx_settings {
  int pe = 0;                ///< the world number of this PE; each message contains it
  bool one_host = true;      ///< if false, UCX uses no shared memory, because it could treat two containers as one host
  bool without_tcp = false;  ///< if true, UCX must not use TCP, because shared memory reaches all PEs
  bool private_network = true;  ///< config::private_network: if false, UCX must not use TCP between hosts
  std::string devices{};        ///< network devices to use, separated by commas; empty: UCX chooses
  log::logger* log = nullptr;   ///< never null when the settings are passed; the logger must outlive the transport
};

/// A default that pgas chooses for a setting of UCX.
struct ucx_default {
  const char* variable;  ///< with the prefix UCX_
  std::string value;
};

/// The defaults that differ from UCX's own defaults. If the user has set the variable of a setting, its default is left
/// out.
[[nodiscard]] std::vector<ucx_default> ucx_defaults(const ucx_settings& settings);

/// Checks that UCX may use a network between the hosts. By default UCX may use TCP only on a private network.
/// @param infiniband the operating system's list of ports
/// *Errors* transport_failed if the hosts have no InfiniBand or RoCE port and the user has chosen no transports.
void check_network(const ucx_settings& settings, const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// The end of an error about a PE that UCX does not reach: names the setting that excludes TCP, or is empty.
[[nodiscard]] std::string why_unreachable(const ucx_settings& settings);

/// Whether UCX may pass data between the PEs of a host through shared memory.
[[nodiscard]] bool may_use_shared_memory(const ucx_settings& settings);

/// Loads UCX at run time. The user's own UCX_* variables override these settings.
///
/// UCX does not authenticate connections. Over TCP, UCX listens on all devices that UCX may use, and a process that can
/// connect to such a port can end this process (see docs/security.md). The format of arriving messages is checked, but
/// not their origin. *Errors* transport_failed if UCX is not installed, is too old, cannot be started, or is not part
/// of this build.
[[nodiscard]] std::unique_ptr<transport> make_ucx_transport(const ucx_settings& settings);

}  // namespace pgas::detail
