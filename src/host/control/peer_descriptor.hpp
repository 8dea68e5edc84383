/// @file
/// The descriptions that PEs exchange over the bootstrap before they connect, and checks of them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/net/address.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The key of the job, see handshake.hpp.
using job_secret = std::array<std::byte, 32>;

/// The first message of a PE.
struct peer_descriptor {
  std::string version;            ///< of the library
  std::string abi;                ///< detail::abi_version
  std::string host;               ///< its name, for messages
  std::string boot_id;            ///< the same for all processes of one kernel
  std::string network_namespace;  ///< abstract sockets connect PEs for which this is equal
  std::string pid;
  std::string user;
  std::string socket_kind;    ///< "directory" or "abstract": the kind of socket
  std::string socket_name;    ///< random
  std::string secret;         ///< its share of the job's secret, in hexadecimal digits
  std::string failure;        ///< why this PE could not open its socket; empty if it could
  std::string pid_namespace;  ///< PEs for which this is equal agree on each `pid`
};

/// The descriptor of this process, with a new socket name and a new share of the secret.
[[nodiscard]] peer_descriptor make_descriptor(const std::string& socket_directory);
[[nodiscard]] blob encode(const peer_descriptor& mine);
/// *Errors* bootstrap_protocol, version_mismatch.
[[nodiscard]] std::vector<peer_descriptor> decode_descriptors(const std::vector<blob>& all);

/// Which PEs are on one host, as numbers of hosts by PE, in the order of their first PEs. A host is what UNIX sockets
/// reach: one kernel, and one network namespace unless the sockets are in a directory.
[[nodiscard]] std::vector<int> hosts_of(const std::vector<peer_descriptor>& all);

/// The reason why these PEs cannot connect, the same on all of them; none if they can.
[[nodiscard]] std::optional<error> validate(const std::vector<peer_descriptor>& all);

/// All shares combined: as random as the best of them. *Errors* bootstrap_protocol for a malformed share.
[[nodiscard]] job_secret derive_job_key(const std::vector<peer_descriptor>& all);

/// The same text in all processes that are on this one's host (see hosts_of), another everywhere else.
[[nodiscard]] std::string host_identity(const std::string& socket_directory);

/// `bytes` random bytes as hexadecimal digits. *Errors* system.
[[nodiscard]] std::string random_hex(std::size_t bytes);

/// Where one PE listens for PEs of other hosts: its second message, where not all run on one host.
struct tcp_endpoints {
  std::vector<tcp_address> addresses;  ///< where it listens; none where no network interface is up
  std::chrono::milliseconds peer_timeout{};
  std::string failure;  ///< why it could not open its socket; empty if it could
};

[[nodiscard]] blob encode(const tcp_endpoints& mine);
/// *Errors* bootstrap_protocol.
[[nodiscard]] std::vector<tcp_endpoints> decode_endpoints(const std::vector<blob>& all);

}  // namespace pgas::detail
