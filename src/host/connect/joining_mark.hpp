/// @file
/// The mark of a joining PE, which has no connections and no thread to answer questions. The name of a socket shows
/// that the PE exists. A killed process leaves its socket and other files. The next PE removes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/net/unix_socket.hpp"

namespace pgas::detail {

/// The prefix of the socket names. Four numbers follow, separated by "-": the number of PEs, the number of this PE, the
/// milliseconds of the monotonic clock, and a number that distinguishes the sockets of one process. A number that is
/// not known is x.
inline constexpr std::string_view joining_socket_prefix = "pgas-joining-";

/// During the lifetime of the object, pgas-why sees that this process joins. No thread reads the socket. A program that
/// connects to the socket learns from Linux which process owns the socket. If the socket cannot be opened, pgas-why
/// does not see this PE.
class joining_mark {
 public:
  /// @param directory PGAS_SOCKET_DIR @param pe, n the numbers in the environment; -1: not known
  joining_mark(const std::string& directory, int pe, int n) noexcept;
  ~joining_mark();
  joining_mark(const joining_mark&) = delete;
  joining_mark& operator=(const joining_mark&) = delete;

 private:
  std::optional<unix_listener> listener_;
};

/// Removes files that killed processes of this user have left: sockets in `directory` without a listener, and files of
/// UCX in /dev/shm that no process has open. If `directory` is empty, removes no sockets. Ignores failures.
void remove_stale_files(const std::string& directory) noexcept;

}  // namespace pgas::detail
