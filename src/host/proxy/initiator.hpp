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
class issuer {
 public:
  explicit issuer(proxy_parts& parts) : parts_(parts) {}

  /// Takes commands until there is none, one has to wait, or it is another's turn; how many. `wrong` says what is the
  /// matter with one that makes no sense.
  [[nodiscard]] std::size_t take_commands(flight& from, std::string& wrong);
  /// Takes commands and forgets them; whether there were any.
  [[nodiscard]] bool drop_commands(flight& from);
  /// Has PEs told of it when somebody waits for what is under way to them.
  void ask_for_effects(flight& from);
  /// Sends held signals whose time has come.
  void send_signals(flight& from);
  /// Goes on with the large things for one PE.
  void advance_jobs(channel& to);
  /// What a reply of `bytes` counts as while it is awaited.
  [[nodiscard]] static std::size_t counted_as(std::size_t bytes) noexcept;

 private:
  [[nodiscard]] std::string fault(const command& what, const flight& from) const;
  [[nodiscard]] bool start(flight& from, const command& what);
  /// What is small enough for a record, and may go now.
  [[nodiscard]] bool start_data(flight& from, const command& what);
  [[nodiscard]] bool start_signal(flight& from, const command& what);
  [[nodiscard]] bool start_atomic(flight& from, const command& what);
  void start_job(flight& from, const command& what);

  [[nodiscard]] bool advance(channel& to, transfer& op);
  [[nodiscard]] bool advance_by_record(channel& to, transfer& op);
  [[nodiscard]] bool issue_piece(channel& to, transfer& op, const peer_memory::segment& there);
  [[nodiscard]] bool issue_record(channel& to, transfer& op);
  [[nodiscard]] bool may_ask(const channel& of, std::size_t bytes) const noexcept;
  [[nodiscard]] std::uint64_t ask(channel& of, const awaited_replies::request& what);
  void fill(transfer& op, std::byte* payload, const std::byte* local, const block_list& blocks);
  void count_effect(channel& to, transfer& op, bool is_signal);
  [[nodiscard]] bool transport_may_use(const std::byte* local, std::size_t bytes) const noexcept;

  proxy_parts& parts_;
};

}  // namespace pgas::detail
