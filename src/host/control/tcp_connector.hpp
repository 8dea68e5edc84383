/// @file
/// The way to a PE of another host: address after address, until that PE answers.
#pragma once

#include <string>
#include <vector>

#include "common/net/tcp_connector.hpp"
#include "host/control/bootstrap_exchange.hpp"

namespace pgas::detail {

/// Connects to the addresses that a PE has given out, one after another and over again.
class tcp_connector {
 public:
  /// @param timeout how long each answer may take. `secret` must live as long.
  tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, const job_secret& secret,
                milliseconds timeout);

  /// Begins to connect where nothing is under way.
  void start_if_due();
  /// Goes as far as it can without waiting. True once the PE is connected; take() then.
  [[nodiscard]] bool advance();
  [[nodiscard]] unique_fd take() { return attempts_[current_].take(); }

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
