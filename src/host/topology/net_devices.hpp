/// @file
/// Which network devices carry bytes to PEs beyond load and store: UCX would take all there are, and listen on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pgas::detail {

/// The network interface whose address this end of a connection has; empty where there is none.
[[nodiscard]] std::string interface_of(int socket);

/// `interfaces` and the ports of InfiniBand that are up, as UCX wants to be told of them; empty where there are no
/// interfaces. @param infiniband where the kernel lists its ports
[[nodiscard]] std::string net_devices(std::vector<std::string> interfaces,
                                      const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// The same text in processes of one host that share memory by name.
[[nodiscard]] std::string memory_namespaces();

}  // namespace pgas::detail
