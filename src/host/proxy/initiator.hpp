/// @file
/// The initiating half of a proxy: executes the commands of this PE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/proxy/engine_state.hpp"
#include "host/proxy/in_flight_commands.hpp"

namespace pgas::detail {

/// Each small command becomes one message operation, in the order of the ring. The ring waits while the window is full.
/// A larger command is a bulk operation of its peer. Its parts are issued while further commands are taken from the
/// ring: as chunks if the transport can access both sides, else as message operations.
class initiator {
 public:
  explicit initiator(engine_state& state) : state_(state) {}

  /// Takes commands until the ring is empty, a command has to wait, or the turn is over. Returns the number of
  /// commands. `invalid` gets the reason if a command is invalid.
  [[nodiscard]] std::size_t take_commands(in_flight_commands& from, std::string& invalid);
  /// Takes commands and drops them. Returns whether the ring had commands.
  [[nodiscard]] bool drop_commands(in_flight_commands& from);
  /// Requests acknowledgements of all peers if a producer waits for commands in flight.
  void request_acks(in_flight_commands& from);
  /// Sends deferred signals that are ready.
  void send_signals(in_flight_commands& from);
  /// Issues the next parts of the bulk operations for one PE.
  void advance_bulk_ops(peer_state& to);
  /// Waits until all local data of messages has been copied into the messages.
  void complete_reads();

 private:
  [[nodiscard]] std::string validate(const command& cmd, const in_flight_commands& from) const;
  /// Each of the following functions starts a command, unless the command has to wait. The function returns whether the
  /// command has started.
  [[nodiscard]] bool start(in_flight_commands& from, command& cmd);
  [[nodiscard]] bool start_data(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_signal(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_atomic(in_flight_commands& from, const command& cmd);
  void start_bulk(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_list(in_flight_commands& from, command& cmd);
  void queue_bulk(proxy_op& op);

  [[nodiscard]] bool advance(peer_state& to, proxy_op& op);
  [[nodiscard]] bool advance_by_message(peer_state& to, proxy_op& op);
  [[nodiscard]] bool issue_chunk(peer_state& to, proxy_op& op, const exposed_segments::segment& remote);
  [[nodiscard]] bool issue_message_op(peer_state& to, proxy_op& op);
  [[nodiscard]] bool may_request(const peer_state& peer, std::size_t bytes) const noexcept;
  [[nodiscard]] std::uint64_t add_request(peer_state& peer, const pending_request& request);
  void fill(proxy_op& op, std::byte* payload, const std::byte* local, const block_list& blocks);
  void expect_ack(peer_state& to, proxy_op& op, bool is_signal);
  void count(const command& cmd) noexcept;
  [[nodiscard]] bool transport_may_use(const std::byte* local, std::size_t bytes) const noexcept;

  engine_state& state_;
  std::vector<proxy_op*> reads_;  ///< one entry for each part that is being read
};

}  // namespace pgas::detail
