/// @file
/// A PE that joins has no connections yet, and no thread that could answer. The name of a socket says that it is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/net/unix_socket.hpp"

namespace pgas::detail {

/// What names of these sockets begin with. The number of PEs, this one's, milliseconds of the monotonic clock, and a
/// number of the process follow, with - between; x: not known.
inline constexpr std::string_view joining_socket_prefix = "pgas-joining-";

/// For as long as it lives, pgas-why sees that this process joins. Nobody reads the socket: who connects to it learns
/// from the kernel whose it is. Where there can be none, this PE is not seen.
class joining_mark {
 public:
  /// @param directory PGAS_SOCKET_DIR @param pe, n as the environment says, -1: not known
  joining_mark(const std::string& directory, int pe, int n) noexcept;
  ~joining_mark();
  joining_mark(const joining_mark&) = delete;
  joining_mark& operator=(const joining_mark&) = delete;

 private:
  std::optional<unix_listener> listener_;
};

}  // namespace pgas::detail
