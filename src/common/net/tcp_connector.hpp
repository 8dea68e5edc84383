/// @file
/// Connects to a PE that may have several addresses. A tcp_attempt tries one address. A tcp_connector tries all
/// addresses at the same time. *Callers* the TCP bootstrap and the control plane.
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/net/handshake.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// An address at which a process may listen. A UNIX socket must belong to the user of this process.
using stream_address = std::variant<tcp_address, unix_address>;

/// An attempt to connect to one address. Another process may answer at the address, because a private address can
/// belong to different machines in different networks.
class tcp_attempt {
 public:
  /// @param key must outlive the object @param until_welcome whether the other side sends a welcome
  tcp_attempt(const stream_address& to, std::span<const std::byte> key, const hello& introduction, bool until_welcome)
      : to_(to), key_(key), introduction_(introduction), until_welcome_(until_welcome) {}

  /// Begins to connect. May be called after an earlier attempt. One limit bounds the time to connect, and the other
  /// limit bounds the time to the answer.
  void start(milliseconds to_connect, milliseconds to_answer);
  /// Advances the attempt without blocking. The attempt fails at the time due(). Returns true when the PE is
  /// authenticated and, if a welcome is expected, has sent the welcome. After that, take() returns the connection.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return talk_->take_proven(); }

  [[nodiscard]] bool active() const noexcept { return connecting_ || talk_; }
  /// Whether the PE is authenticated, and this side waits for the PE's welcome.
  [[nodiscard]] bool awaits_welcome() const noexcept { return talk_ && due_ == clock::time_point::max(); }
  /// Ends the attempt. If the connection is made, first sends the hello, because the other side reports a connection
  /// that is closed before a hello.
  void stop();
  /// The time limit of the attempt. After a failure, the time of the failure.
  [[nodiscard]] clock::time_point due() const noexcept { return due_; }
  /// The argument for poll(). The descriptor is -1, which poll() ignores, if the attempt is not active.
  [[nodiscard]] pollfd awaited() const noexcept;
  /// The code of a failure that another attempt cannot fix. The code stays until another process answers at this
  /// address.
  [[nodiscard]] std::optional<code> verdict() const noexcept { return verdict_; }
  /// The address and its last answer: "10.0.0.1:4711 (Connection refused)".
  [[nodiscard]] std::string report() const;

 private:
  void give_up(std::string problem, std::optional<code> verdict = std::nullopt);

  stream_address to_;
  std::span<const std::byte> key_;
  hello introduction_;
  bool until_welcome_;
  unique_fd connecting_;
  std::optional<handshake> talk_;  ///< set after the connection is made
  clock::time_point due_{};
  milliseconds to_answer_{};
  std::string problem_ = "not tried yet";
  std::optional<code> verdict_;
  std::string reason_;  ///< the reason for the verdict
};

/// Tries all addresses of a PE at the same time, and repeats failed attempts, until the PE is authenticated at one
/// address. Then all other attempts end, so that the PE gets only one connection.
class tcp_connector {
 public:
  /// @param to_answer the time limit for each answer; `key` must outlive the object
  /// @param until_welcome whether the other side sends a welcome
  tcp_connector(const std::vector<stream_address>& addresses, std::span<const std::byte> key, const hello& introduction,
                milliseconds to_answer, bool until_welcome);

  /// Advances all attempts without waiting. Returns true when the PE is connected. After that, take() returns the
  /// connection.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return chosen_->take(); }

  /// The arguments with which poll() waits until advance() has work.
  [[nodiscard]] std::vector<pollfd> awaited() const;
  /// The time at which advance() has work, unless a descriptor is ready earlier.
  [[nodiscard]] clock::time_point due() const;
  /// "10.0.0.1:4711 (Connection refused), ...": the answer of each address. A long list is cut.
  [[nodiscard]] std::string report() const;
  /// The code of a failure that further attempts cannot fix.
  [[nodiscard]] std::optional<code> verdict() const;

 private:
  const milliseconds to_answer_;
  std::vector<tcp_attempt> attempts_;  ///< by address
  tcp_attempt* chosen_ = nullptr;      ///< the attempt in which the PE was authenticated
};

}  // namespace pgas::detail
