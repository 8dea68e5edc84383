/// @file
/// Sends and receives packets with file descriptors over AF_UNIX SOCK_SEQPACKET. Does not interpret the packets.
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

/// The address at which a PE listens: an abstract name, or a file in a directory. Each network namespace has its own
/// abstract names. Containers can share a directory.
class unix_address {
 public:
  /// @param directory empty for an abstract name. *Errors* config_value if directory and name are too long for a
  /// socket.
  unix_address(const std::string& directory, const std::string& name);

  [[nodiscard]] const sockaddr* raw() const noexcept;
  [[nodiscard]] socklen_t length() const noexcept { return length_; }
  /// The path of the file; empty for an abstract name.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The address as text, for messages.
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_un address_{};
  socklen_t length_ = 0;
  std::string path_;
  std::string name_;
};

/// A listening socket. The destructor removes the file of the socket, if the socket has a file.
class unix_listener {
 public:
  /// Only the owner may connect (mode 0600 for a file). *Errors* system; config_value if the directory is the cause.
  unix_listener(const unix_address& address, int backlog);
  unix_listener(unix_listener&& other) noexcept;
  unix_listener& operator=(unix_listener&&) = delete;
  ~unix_listener();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Accepts the next waiting connection, see accept_next().
  [[nodiscard]] connect_result accept() const { return accept_next(fd()); }

 private:
  unique_fd fd_;
  std::string path_;
};

/// Listens for streams of bytes (SOCK_STREAM) under an abstract name. Empty with errno set on failure. Every user may
/// connect. peer_credentials() returns the user of the other end.
[[nodiscard]] unique_fd listen_for_streams(const unix_address& address, int backlog);

/// Connects without waiting. EAGAIN means that the listener is busy.
/// @param type SOCK_SEQPACKET, or SOCK_STREAM for listen_for_streams().
[[nodiscard]] connect_result connect_to(const unix_address& address, int type = SOCK_SEQPACKET);

/// The process at the other end, as the kernel reports it.
struct socket_owner {
  uid_t uid;
  pid_t pid;
};
[[nodiscard]] std::optional<socket_owner> peer_credentials(int fd);
/// A descriptor that becomes readable when the process at the other end has ended, even if other processes still have
/// its sockets. Empty for this process itself, and if the kernel does not provide or allow the descriptor.
[[nodiscard]] unique_fd open_pidfd(int fd);
/// As open_pidfd(), for process `pid` of this namespace. `gone` receives whether the process does not exist.
[[nodiscard]] unique_fd process_of(pid_t pid, bool& gone);

/// The result of one receive.
struct received_packet {
  enum class status { complete, nothing_yet, closed, oversized };
  status what = status::nothing_yet;
  std::span<const std::byte> bytes;  ///< a part of the caller's buffer
  std::vector<unique_fd> fds;
  bool descriptors_lost = false;  ///< this process may open no more files; all received descriptors were closed
};

inline constexpr std::size_t max_fds_per_packet = 64;

/// Sends one packet, which consists of two parts, without blocking. Returns 0 or an errno. EAGAIN means that the peer's
/// queue is full.
[[nodiscard]] int send_packet(int fd, std::span<const std::byte> head, std::span<const std::byte> body,
                              std::span<const int> fds);
/// Receives one packet without blocking.
[[nodiscard]] received_packet receive_packet(int fd, std::span<std::byte> buffer);

}  // namespace pgas::detail
