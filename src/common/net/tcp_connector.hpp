/// @file
/// Connecting to a PE at one of the addresses that it may have: tcp_attempt for one address, tcp_connector for one
/// after another. *Callers* the TCP bootstrap, which tries all addresses at once; the control plane.
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

/// Where a process may listen; a UNIX socket only belongs to this process's user.
using stream_address = std::variant<tcp_address, unix_address>;

/// One address. The process that answers there need not be the one meant: private addresses may belong to another
/// machine here than there.
class tcp_attempt {
 public:
  /// @param key must live as long. @param until_welcome whether the other side sends a welcome.
  tcp_attempt(const stream_address& to, std::span<const std::byte> key, const hello& introduction, bool until_welcome)
      : to_(to), key_(key), introduction_(introduction), until_welcome_(until_welcome) {}

  /// Begins to connect, also after an earlier attempt. Each limit bounds one step: the connection, and its answer.
  void start(milliseconds to_connect, milliseconds to_answer);
  /// Goes as far as it can without waiting, and gives up at due(). True once the PE has proved itself and, where it
  /// does, welcomed this one; take() then.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return talk_->take_proven(); }

  [[nodiscard]] bool active() const noexcept { return connecting_ || talk_; }
  /// When it gives up, or when it has given up.
  [[nodiscard]] clock::time_point due() const noexcept { return due_; }
  /// For poll(), which ignores the descriptor -1 of an attempt that is not active.
  [[nodiscard]] pollfd awaited() const noexcept;
  /// Why a try failed, where trying again cannot help. It stands until another process answers at this address.
  [[nodiscard]] std::optional<code> verdict() const noexcept { return verdict_; }
  /// "10.0.0.1:4711 (Connection refused)"
  [[nodiscard]] std::string report() const;

 private:
  void give_up(std::string problem, std::optional<code> verdict = std::nullopt);

  stream_address to_;
  std::span<const std::byte> key_;
  hello introduction_;
  bool until_welcome_;
  unique_fd connecting_;
  std::optional<handshake> talk_;  ///< once connected
  clock::time_point due_{};
  milliseconds to_answer_{};
  std::string problem_ = "not tried yet";
  std::optional<code> verdict_;
  std::string reason_;  ///< of the verdict
};

/// Connects to the addresses that a PE has given out, one after another and over again.
class tcp_connector {
 public:
  /// @param timeout how long each answer may take. `key` must live as long.
  tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, std::span<const std::byte> key,
                milliseconds timeout);

  /// Begins to connect where nothing is under way.
  void start_if_due();
  /// Goes as far as it can without waiting. True once the PE is connected; take() then.
  [[nodiscard]] bool advance();
  [[nodiscard]] proven_socket take() { return attempts_[current_].take(); }

  [[nodiscard]] int peer() const noexcept { return peer_; }
  /// For poll(), which ignores the descriptor -1 of a pause.
  [[nodiscard]] pollfd awaited() const noexcept { return attempts_[current_].awaited(); }
  /// When start_if_due() or advance() has something to do, unless the descriptor is ready before.
  [[nodiscard]] clock::time_point due() const noexcept {
    return attempts_[current_].active() ? attempts_[current_].due() : next_start_;
  }
  /// "10.0.0.1:4711 (Connection refused), ...": the answer of each address.
  [[nodiscard]] std::string report() const;

 private:
  const int peer_;
  const milliseconds timeout_;
  std::vector<tcp_attempt> attempts_;  ///< by address
  std::size_t current_ = 0;
  clock::time_point next_start_;
};

}  // namespace pgas::detail
