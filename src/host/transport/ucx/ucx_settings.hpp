/// @file
/// The settings of the UCX transport, what it needs of the system, and its factory. By default UCX takes all network
/// devices of the host, and listens on them.
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

/// `interfaces` and the active ports of InfiniBand, in the format of UCX_NET_DEVICES; empty where there are no
/// interfaces. @param infiniband the kernel's list of ports
[[nodiscard]] std::string net_devices(std::vector<std::string> interfaces,
                                      const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// The same text in processes of one host that share memory by name.
[[nodiscard]] std::string memory_namespaces();

/// What this process finds of /dev/shm, by which UCX passes data between the PEs of a host.
struct shared_memory_room {
  std::size_t free = 0;  ///< bytes
  std::string found;     ///< "12 KiB of the 1 MiB of /dev/shm are free", or why no file can be made there
};

/// Makes a file in /dev/shm, for a moment.
[[nodiscard]] shared_memory_room look_at_shared_memory();

/// What a PE takes of /dev/shm, and how to make it larger.
inline constexpr std::size_t shared_memory_of_pe = std::size_t{5} << 20;
inline constexpr const char* more_shared_memory =
    "mount -o remount,size=1g /dev/shm, or mount -t tmpfs tmpfs /dev/shm (docker run --shm-size=1g); or UCX_TLS=tcp, "
    "which is slow";

struct ucx_settings {
  int pe = 0;                  ///< this PE's world number; each message names its sender
  bool one_host = true;        ///< false: no shared memory, as UCX may take two containers for one host
  bool without_tcp = false;    ///< shared memory reaches all PEs
  std::string devices{};       ///< network devices to use, separated by commas; empty: UCX chooses
  log::logger* log = nullptr;  ///< never null in a call; outlives the transport
};

/// Loads UCX at run time. The user's own UCX_* variables take precedence over these settings.
///
/// UCX authenticates nobody, and over TCP it listens on all devices that it may use: anybody who can connect to such a
/// port can end the process (see docs/security.md). Arriving messages are checked for their shape, not for their
/// origin. *Errors* transport_failed where UCX is not installed, is too old, can't be started, or was left out of this
/// build.
[[nodiscard]] std::unique_ptr<transport> make_ucx_transport(const ucx_settings& settings);

}  // namespace pgas::detail
