/// @file
/// The network devices that UCX may use: by default it takes all of the host, and listens on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pgas::detail {

/// `interfaces` and the active ports of InfiniBand, in the format of UCX_NET_DEVICES; empty where there are no
/// interfaces. @param infiniband the kernel's list of ports
[[nodiscard]] std::string net_devices(std::vector<std::string> interfaces,
                                      const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// The same text in processes of one host that share memory by name.
[[nodiscard]] std::string memory_namespaces();

}  // namespace pgas::detail
