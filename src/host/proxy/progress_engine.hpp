/// @file
/// The engine of a proxy: one turn after another, without a thread of its own. Its halves: the initiator executes the
/// commands of this PE, the target the operations of other PEs.
///
/// Calls go one way. Commands: engine, initiator, the peer's send_queue, message_output, transport. Messages: engine,
/// target, memory_access. Completions: engine or message_output, in_flight_commands, ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/proxy/engine_state.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/wire_format.hpp"

namespace pgas::detail {

/// Small commands become one message operation each, in the order of the ring, which waits while the window is full.
/// Larger ones are bulk operations of their peer, issued in parts while the ring goes on: as chunks where the transport
/// can access both sides, else as message operations.
class initiator {
 public:
  explicit initiator(engine_state& state) : state_(state) {}

  /// Takes commands until the ring is empty, one has to wait, or the turn is over; returns how many. `invalid` names a
  /// command that no producer can have meant, and why.
  [[nodiscard]] std::size_t take_commands(in_flight_commands& from, std::string& invalid);
  /// Takes commands and drops them; returns whether there were any.
  [[nodiscard]] bool drop_commands(in_flight_commands& from);
  /// Requests acknowledgements of all peers if a producer waits for commands in flight.
  void request_acks(in_flight_commands& from);
  /// Sends deferred signals that are ready.
  void send_signals(in_flight_commands& from);
  /// Issues the next parts of the bulk operations for one PE.
  void advance_bulk_ops(peer_state& to);

 private:
  [[nodiscard]] std::string validate(const command& cmd, const in_flight_commands& from) const;
  /// These start a command, unless it has to wait; return whether they did.
  [[nodiscard]] bool start(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_data(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_signal(in_flight_commands& from, const command& cmd);
  [[nodiscard]] bool start_atomic(in_flight_commands& from, const command& cmd);
  void start_bulk(in_flight_commands& from, const command& cmd);

  [[nodiscard]] bool advance(peer_state& to, proxy_op& op);
  [[nodiscard]] bool advance_by_message(peer_state& to, proxy_op& op);
  [[nodiscard]] bool issue_chunk(peer_state& to, proxy_op& op, const exposed_segments::segment& remote);
  [[nodiscard]] bool issue_message_op(peer_state& to, proxy_op& op);
  [[nodiscard]] bool may_request(const peer_state& of, std::size_t bytes) const noexcept;
  [[nodiscard]] std::uint64_t add_request(peer_state& of, const pending_request& request);
  void fill(proxy_op& op, std::byte* payload, const std::byte* local, const block_list& blocks);
  void expect_ack(peer_state& to, proxy_op& op, bool is_signal);
  void count(const command& cmd) noexcept;
  [[nodiscard]] bool transport_may_use(const std::byte* local, std::size_t bytes) const noexcept;

  engine_state& state_;
};

class target {
 public:
  explicit target(engine_state& state) : state_(state) {}

  /// Executes the operations of a message of PE `from`, one after another. Returns why the first invalid one is
  /// refused, which is not executed, nor is any later one. Empty: all were valid.
  [[nodiscard]] std::string execute(int from, std::span<const std::byte> ops);
  /// Whether memory was written since the last call.
  [[nodiscard]] bool take_written() noexcept {
    const bool was = written_;
    written_ = false;
    return was;
  }

 private:
  class cursor;
  [[nodiscard]] std::string execute(int from, const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put_signal(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put_strided(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string atomic(int from, const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string get(int from, const message_op_header& head, cursor& rest, bool strided);
  /// The reply of `from` to a request of this PE.
  [[nodiscard]] std::string reply(int from, const message_op_header& head, cursor& rest);
  /// Appends a reply of so many bytes to the messages for `pe`; returns where they go, until the memory is completed.
  [[nodiscard]] std::byte* append_reply(int pe, std::uint64_t request, std::uint32_t bytes);
  [[nodiscard]] std::string range_error(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::string blocks_error(const message_op_header& head, const strided_part& blocks) const;
  [[nodiscard]] std::string word_error(std::uint64_t offset, datatype as) const;
  [[nodiscard]] std::byte* address(std::uint64_t offset) const noexcept { return state_.settings.slot + offset; }

  engine_state& state_;
  bool written_ = false;
};

/// Owns the state of a proxy and drives its two halves, the initiator and the target; the transport reports its events
/// here. *Callers* one thread at a time. *Errors* those of the transport and the memory; after one only fail() and the
/// destructor may be called.
class progress_engine final : public transport_events {
 public:
  /// All three outlive the last turn.
  progress_engine(const proxy_settings& settings, transport& network, memory_access& memory);

  /// One turn: handles arrived messages, takes commands, sends messages. Returns whether there was anything to do.
  bool progress();
  /// Nothing is in flight: all commands are complete, all messages sent and acknowledged.
  [[nodiscard]] bool idle() const noexcept;
  /// Commands or messages wait for other PEs.
  [[nodiscard]] bool waits_for_peers() const noexcept;
  /// Acknowledgements wait for a message to travel with, or for a few more turns, which the caller must not delay.
  [[nodiscard]] bool acks_due() const noexcept;

  void add_ring(ring& source);
  void remove_ring(const ring& source);
  [[nodiscard]] bool has_rings() const noexcept { return !rings_.empty(); }
  /// One of them has producers that can't wake the proxy.
  [[nodiscard]] bool has_silent_rings() const noexcept;
  /// A ring has a command that was not taken.
  [[nodiscard]] bool has_commands() const noexcept;

  /// The commands for whose answers producers wait, at most `most`.
  [[nodiscard]] std::vector<awaited_command> awaited(std::size_t most) const;

  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key);
  void remove_peer_memory(std::uint64_t offset);
  /// The transport may use this memory as the local side.
  void add_exposed(const void* at, std::size_t bytes);
  void remove_exposed(const void* at) noexcept;
  /// After the last turn, before the transport disconnects: forgets the memory of peers and ignores their messages.
  void finish();

  /// The world can't go on: reports it, once, and drops all commands.
  void fail(int pe, const std::string& what);
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] const proxy_statistics& statistics() const noexcept { return state_.counts; }
  [[nodiscard]] const command_counts& commands_to(int pe) const noexcept { return state_.to(pe).counts; }

  // ---- transport_events
  void message(int from, std::span<const std::byte> bytes) override;
  void done(transport_token token) override;
  void lost(int pe, const std::string& why) override;

 private:
  [[nodiscard]] std::string receive(peer_state& from, std::span<const std::byte> bytes);
  [[nodiscard]] std::string execute(peer_state& from, std::span<const std::byte> message);
  [[nodiscard]] bool receive_from_self();
  void acknowledge(peer_state& of, std::uint64_t sequence);
  void complete_memory();
  [[nodiscard]] bool serve(in_flight_commands& from);
  void flush();

  engine_state state_;
  initiator initiator_;
  target target_;
  std::vector<std::unique_ptr<in_flight_commands>> rings_;
  std::vector<std::unique_ptr<in_flight_commands>> retired_;  ///< of removed rings, with operations in flight
  std::vector<peer_state*> executed_from_;  ///< senders of executed messages whose effects are not visible yet
  std::vector<peer_state*> leaving_;        ///< lost, while reads may still write into messages to them
  bool transport_wrote_ = false;            ///< gets of the transport have written memory of this PE
  bool failed_ = false;
};

}  // namespace pgas::detail
