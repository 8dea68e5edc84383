/// @file
/// The sending half of a proxy: turns commands into records and into pieces for the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/proxy_state.hpp"

namespace pgas::detail {

/// Small things become one record each, in the order of the ring; the ring waits where a message is full and none may
/// be sent. Large ones are jobs of their channel, which issues them piece by piece while the ring goes on: directly
/// where the transport reaches both sides, else as records.
class initiator {
 public:
  explicit initiator(proxy_state& parts) : parts_(parts) {}

  /// Takes commands until there is none, one has to wait, or it is another's turn; how many. `wrong` says what is the
  /// matter with one that makes no sense.
  [[nodiscard]] std::size_t take_commands(in_flight_commands& from, std::string& wrong);
  /// Takes commands and forgets them; whether there were any.
  [[nodiscard]] bool drop_commands(in_flight_commands& from);
  /// Has PEs told of it when somebody waits for what is under way to them.
  void request_acks(in_flight_commands& from);
  /// Sends held signals whose time has come.
  void send_signals(in_flight_commands& from);
  /// Goes on with the large things for one PE.
  void advance_jobs(peer_state& to);
  /// What a reply of `bytes` counts as while it is awaited.
  [[nodiscard]] static std::size_t counted_as(std::size_t bytes) noexcept;

 private:
  [[nodiscard]] std::string fault(const command& what, const in_flight_commands& from) const;
  [[nodiscard]] bool start(in_flight_commands& from, const command& what);
  /// What is small enough for a record, and may go now.
  [[nodiscard]] bool start_data(in_flight_commands& from, const command& what);
  [[nodiscard]] bool start_signal(in_flight_commands& from, const command& what);
  [[nodiscard]] bool start_atomic(in_flight_commands& from, const command& what);
  void start_job(in_flight_commands& from, const command& what);

  [[nodiscard]] bool advance(peer_state& to, proxy_op& op);
  [[nodiscard]] bool advance_by_record(peer_state& to, proxy_op& op);
  [[nodiscard]] bool issue_piece(peer_state& to, proxy_op& op, const peer_memory::segment& there);
  [[nodiscard]] bool issue_record(peer_state& to, proxy_op& op);
  [[nodiscard]] bool may_ask(const peer_state& of, std::size_t bytes) const noexcept;
  [[nodiscard]] std::uint64_t ask(peer_state& of, const pending_requests::request& what);
  void fill(proxy_op& op, std::byte* payload, const std::byte* local, const block_list& blocks);
  void count_effect(peer_state& to, proxy_op& op, bool is_signal);
  [[nodiscard]] bool transport_may_use(const std::byte* local, std::size_t bytes) const noexcept;

  proxy_state& parts_;
};

}  // namespace pgas::detail
