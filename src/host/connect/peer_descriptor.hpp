/// @file
/// The descriptions that PEs exchange over the bootstrap before they connect, and their checks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/keyed_hash.hpp"
#include "common/net/address.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The key of the job (handshake.hpp).
using job_secret = std::array<std::byte, 32>;

/// The part of a descriptor with a fixed size.
struct peer_numbers {
  std::int32_t pid = 0;
  std::uint32_t user = 0;
  std::int64_t heartbeat_ms = 30'000;  ///< PGAS_HEARTBEAT_TIMEOUT of the PE
  bits128 machine{};                   ///< equal for all processes of one running kernel
  bits128 network_namespace{};         ///< abstract sockets connect PEs with equal values
  bits128 pid_namespace{};             ///< PEs with equal values see the same process ids
  bits128 socket{};                    ///< random, for the name of the socket
  job_secret secret{};                 ///< the PE's share of the job's secret
  std::uint64_t in_directory = 0;      ///< 1 if the socket is in a directory, 0 if it has an abstract name
};

/// The first message of a PE over the bootstrap.
struct peer_descriptor : peer_numbers {
  std::string version;  ///< the version of the library
  std::string abi;      ///< detail::abi_version
  std::string host;     ///< the name of the host, for messages
  std::string failure;  ///< the reason why this PE could not open its socket; empty if the socket is open

  [[nodiscard]] std::string socket_name() const;
};

/// The smallest PGAS_HEARTBEAT_TIMEOUT of all PEs.
[[nodiscard]] std::chrono::milliseconds least_heartbeat(const std::vector<peer_descriptor>& all);

/// The descriptor of this process, with a new socket name and a new share of the secret.
/// @param test_host the host name that the PE uses; empty: the name of the process's host
[[nodiscard]] peer_descriptor make_descriptor(const std::string& socket_directory, const std::string& test_host = {});
/// A hash of a text, with 128 bits.
[[nodiscard]] bits128 short_for(std::string_view text);
[[nodiscard]] blob encode(const peer_descriptor& mine);
/// *Errors* bootstrap_protocol, version_mismatch.
[[nodiscard]] std::vector<peer_descriptor> decode_descriptors(const std::vector<blob>& all);

/// The number of each PE's host, indexed by PE. Hosts are numbered in the order of their first PEs. PEs are on one host
/// if UNIX sockets can connect them: they have one kernel and, unless the sockets are in a directory, one network
/// namespace.
[[nodiscard]] std::vector<int> hosts_of(const std::vector<peer_descriptor>& all);

/// The reason why these PEs cannot connect, which is the same on all PEs. Empty if the PEs can connect.
[[nodiscard]] std::optional<error> validate(const std::vector<peer_descriptor>& all);

/// Combines the shares of all PEs. The key is as random as the most random share.
[[nodiscard]] job_secret derive_job_key(const std::vector<peer_descriptor>& all);

/// A text that is the same in all processes of this host (see hosts_of), and differs on every other host.
[[nodiscard]] std::string host_identity(const std::string& socket_directory);

/// `prefix` and 32 random hexadecimal digits. *Errors* system.
[[nodiscard]] std::string random_name(std::string_view prefix);

/// The addresses at which a PE listens for PEs of other hosts. A PE publishes the addresses if there are several hosts.
struct tcp_endpoints {
  std::vector<tcp_address> addresses;  ///< empty if no network interface is up
  std::string failure;                 ///< the reason why the PE could not open its socket; empty if the socket is open
};

[[nodiscard]] blob encode(const tcp_endpoints& mine);
/// *Errors* bootstrap_protocol.
[[nodiscard]] tcp_endpoints decode_endpoints(const blob& bytes, int pe);

}  // namespace pgas::detail
