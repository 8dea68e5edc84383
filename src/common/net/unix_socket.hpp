/// @file
/// Packets with file descriptors over AF_UNIX SOCK_SEQPACKET, without interpreting them.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/net/socket.hpp"

namespace pgas::detail {

/// Where a PE listens: a name in the abstract namespace, which a network namespace has of its own, or a file in a
/// directory, which containers can share.
class unix_address {
 public:
  /// @param directory empty for an abstract name. *Errors* config_value when directory and name are too long for a
  /// socket.
  unix_address(const std::string& directory, const std::string& name);

  [[nodiscard]] const sockaddr* raw() const noexcept;
  [[nodiscard]] socklen_t length() const noexcept { return length_; }
  /// The file, empty for an abstract name.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// For messages.
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_un address_{};
  socklen_t length_ = 0;
  std::string path_;
  std::string name_;
};

/// A listening socket. Its file, if it has one, goes with it.
class unix_listener {
 public:
  /// Only the owner may connect (mode 0600 for a file). *Errors* system, or config_value when the directory is to
  /// blame.
  unix_listener(const unix_address& address, int backlog);
  unix_listener(unix_listener&& other) noexcept;
  unix_listener& operator=(unix_listener&&) = delete;
  ~unix_listener();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next connection that waits, see accept_next().
  [[nodiscard]] connect_result accept() const { return accept_next(fd()); }

 private:
  unique_fd fd_;
  std::string path_;
};

/// A listener for streams of bytes (SOCK_STREAM) under an abstract name; none with errno set if there can be none.
/// Every user may connect: peer_credentials() tells the user of the other end.
[[nodiscard]] unique_fd listen_for_streams(const unix_address& address, int backlog);

/// An error of EAGAIN: the listener is busy.
/// @param type SOCK_SEQPACKET, or SOCK_STREAM for listen_for_streams().
[[nodiscard]] connect_result connect_to(const unix_address& address, int type = SOCK_SEQPACKET);

/// Who is at the other end, as the kernel says; none where it does not.
struct socket_owner {
  uid_t uid;
  pid_t pid;
};
[[nodiscard]] std::optional<socket_owner> peer_credentials(int fd);
/// A descriptor that becomes readable when the process at the other end has ended, even if others still have its
/// sockets. None for this process itself, and if the kernel has no such descriptor or does not allow it for that
/// process.
[[nodiscard]] unique_fd open_pidfd(int fd);
/// The same for process `pid` of this one's namespace; in `gone` whether there is none.
[[nodiscard]] unique_fd process_of(pid_t pid, bool& gone);

/// What one receive brought.
struct received_packet {
  enum class status { complete, nothing_yet, closed, oversized };
  status what = status::nothing_yet;
  std::span<const std::byte> bytes;  ///< within the buffer that was handed in
  std::vector<unique_fd> fds;
  bool descriptors_lost = false;  ///< some did not fit this process's limits; those that came were closed again
};

inline constexpr std::size_t max_fds_per_packet = 64;

/// Sends one packet made of two parts without blocking. Gives 0 or an errno: EAGAIN when the peer's queue is full.
[[nodiscard]] int send_packet(int fd, std::span<const std::byte> head, std::span<const std::byte> body,
                              std::span<const int> fds);
/// Receives one packet without blocking.
[[nodiscard]] received_packet receive_packet(int fd, std::span<std::byte> buffer);

}  // namespace pgas::detail
