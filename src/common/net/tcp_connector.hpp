/// @file
/// Connects to a PE that may have several addresses. A tcp_attempt tries one address. A tcp_connector tries one address
/// after the other. *Callers* the TCP bootstrap, which tries all addresses at once; the control plane.
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

/// An attempt to connect to one address. Another process may answer there, because a private address can belong to
/// different machines in different networks.
class tcp_attempt {
 public:
  /// @param key outlives the object @param until_welcome whether the other side sends a welcome
  tcp_attempt(const stream_address& to, std::span<const std::byte> key, const hello& introduction, bool until_welcome)
      : to_(to), key_(key), introduction_(introduction), until_welcome_(until_welcome) {}

  /// Begins to connect. May be called after an earlier attempt. One limit bounds the connection, the other bounds the
  /// answer.
  void start(milliseconds to_connect, milliseconds to_answer);
  /// Advances the attempt without waiting. Gives up at due(). Returns true when the PE has proved itself and, if a
  /// welcome is expected, has sent it. Then take() returns the connection.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return talk_->take_proven(); }

  [[nodiscard]] bool active() const noexcept { return connecting_ || talk_; }
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
  std::string reason_;  ///< the reason of the verdict
};

/// Tries the addresses that a PE has published, one after the other, again and again.
class tcp_connector {
 public:
  /// @param timeout the time limit for each answer; `key` outlives the object
  tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, std::span<const std::byte> key,
                milliseconds timeout);

  /// Begins to connect if no attempt is in progress.
  void start_if_due();
  /// Advances the attempt without waiting. Returns true when the PE is connected. Then take() returns the connection.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return attempts_[current_].take(); }

  [[nodiscard]] int peer() const noexcept { return peer_; }
  /// The argument for poll(). The descriptor is -1, which poll() ignores, during a pause.
  [[nodiscard]] pollfd awaited() const noexcept { return attempts_[current_].awaited(); }
  /// The time at which start_if_due() or advance() has work, unless the descriptor is ready earlier.
  [[nodiscard]] clock::time_point due() const noexcept {
    return attempts_[current_].active() ? attempts_[current_].due() : next_start_;
  }
  /// "10.0.0.1:4711 (Connection refused), ...": the answer of each address.
  [[nodiscard]] std::string report() const;

 private:
  const int peer_;
  const milliseconds timeout_;
  std::vector<tcp_attempt> attempts_;  ///< the attempts, by address
  std::size_t current_ = 0;
  clock::time_point next_start_;
};

}  // namespace pgas::detail
