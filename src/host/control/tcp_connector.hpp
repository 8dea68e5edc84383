/// @file
/// One PE's way to another on another host: address after address, until the right one answers.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "host/control/handshake.hpp"
#include "host/control/tcp_socket.hpp"

namespace pgas::detail {

/// Connects to the addresses that a PE has given out, one after another and over again. What answers at one of them
/// need not be that PE: private addresses may mean another machine here than there.
class tcp_connector {
 public:
  using clock = std::chrono::steady_clock;

  /// @param patience how long what answers may take to say anything. `addresses` and `secret` must live as long.
  tcp_connector(int me, int peer, const std::vector<tcp_address>& addresses, const job_secret& secret,
                clock::duration patience);

  /// Begins to connect where nothing is under way, and gives up what takes too long.
  void go_on();
  /// After news on its descriptor. Whether the PE is there and has proved to be it.
  [[nodiscard]] bool arrived();
  /// The connection, after arrived().
  [[nodiscard]] unique_fd take() { return talk_->take(); }

  [[nodiscard]] int peer() const noexcept { return peer_; }
  /// What to wait for, and until when; nothing where a pause is made.
  [[nodiscard]] pollfd awaited() const noexcept;
  [[nodiscard]] clock::time_point due() const noexcept { return due_; }
  /// "10.0.0.1:4711 (Connection refused), ...": what each address has answered.
  [[nodiscard]] std::string answers() const;

 private:
  void give_up(const std::string& why);

  const int me_;
  const int peer_;
  const std::vector<tcp_address>& addresses_;
  const job_secret& secret_;
  const clock::duration patience_;
  std::vector<std::string> answers_;  ///< by address
  std::size_t current_ = 0;           ///< the address that is tried
  unique_fd connecting_;
  std::optional<handshake> talk_;  ///< once connected
  clock::time_point due_;          ///< next attempt, or end of patience
};

}  // namespace pgas::detail
