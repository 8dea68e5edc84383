/// @file
/// Finds the sockets of the processes of this host. Tools find the processes by these sockets.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "common/net/unix_socket.hpp"

namespace pgas::tools {

/// A listening UNIX socket.
struct found_socket {
  std::string directory;  ///< empty for an abstract name
  std::string name;

  [[nodiscard]] detail::unix_address address() const { return {directory, name}; }
  auto operator<=>(const found_socket&) const = default;
};

/// The sockets whose names begin with `prefix`: abstract names, and, unless `directory` is empty, files in `directory`.
[[nodiscard]] std::set<found_socket> find_sockets(std::string_view prefix, const std::string& directory);

}  // namespace pgas::tools
