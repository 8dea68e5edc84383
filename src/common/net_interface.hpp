/// @file
/// The network interface behind a socket. *Callers* the control plane, and tests of the network devices.
#pragma once

#include <string>

namespace pgas::detail {

/// The name of the network interface that has the local address of `socket`; empty where there is none.
[[nodiscard]] std::string interface_of(int socket);

}  // namespace pgas::detail
