/// @file
/// The engine of a proxy. It works in turns, on the thread of its caller. It has two halves: the initiator executes the
/// commands of this PE, and the target executes the operations of other PEs.
///
/// Calls go in one direction. A command goes from the engine to the initiator, then to the peer's send_queue, then to
/// the transport. A message goes from the engine to the target, then to memory_access. A completion goes from the
/// engine or the initiator to in_flight_commands, then to the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/proxy/engine_state.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/initiator.hpp"
#include "host/proxy/target.hpp"

namespace pgas::detail {

/// Owns the state of a proxy and drives its two halves, the initiator and the target. The transport reports its events
/// to this class. *Callers* one thread at a time. *Errors* those of the transport and the memory. After an error only
/// fail() and the destructor may be called.
class progress_engine final : public transport_events {
 public:
  /// All three arguments must outlive the last turn.
  progress_engine(const proxy_settings& settings, transport& network, memory_access& memory);

  /// Runs one turn: handles arrived messages, takes commands, sends messages. Returns whether there was work.
  bool progress();
  /// Whether nothing is in flight: all commands are complete, and all messages are sent and acknowledged.
  [[nodiscard]] bool idle() const noexcept;
  /// Whether commands or messages wait for other PEs.
  [[nodiscard]] bool waits_for_peers() const noexcept;
  /// Whether acknowledgements wait for a message that can carry them, or for a few more turns. The caller must not
  /// delay these turns.
  [[nodiscard]] bool acks_due() const noexcept;

  void add_ring(ring& source);
  void remove_ring(const ring& source);
  [[nodiscard]] bool has_rings() const noexcept { return !rings_.empty(); }
  /// Whether a ring has producers that cannot wake the proxy.
  [[nodiscard]] bool has_silent_rings() const noexcept;
  /// Whether a ring has a command that was not taken.
  [[nodiscard]] bool has_commands() const noexcept;

  /// The commands whose answers producers wait for, at most `most` of them.
  [[nodiscard]] std::vector<awaited_command> awaited(std::size_t most) const;

  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key);
  void remove_peer_memory(std::uint64_t offset);
  /// Allows the transport to use this memory as the local side.
  void add_exposed(const void* at, std::size_t bytes);
  void remove_exposed(const void* at) noexcept;
  /// Called after the last turn, before the transport disconnects. Removes the memory of peers; later messages of peers
  /// are ignored.
  void finish();

  /// Reports once that the world cannot continue, and drops all commands.
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
  void acknowledge(peer_state& peer, std::uint64_t sequence);
  void complete_memory();
  [[nodiscard]] bool serve(in_flight_commands& from);
  void flush();

  engine_state state_;
  initiator initiator_;
  target target_;
  std::vector<std::unique_ptr<in_flight_commands>> rings_;
  /// The state of removed rings that have operations in flight.
  std::vector<std::unique_ptr<in_flight_commands>> retired_;
  std::vector<peer_state*> executed_from_;  ///< senders of executed messages whose effects are not visible yet
  std::vector<peer_state*> leaving_;        ///< lost peers with messages into which reads can still write
  bool transport_wrote_ = false;            ///< gets of the transport have written memory of this PE
  bool failed_ = false;
};

}  // namespace pgas::detail
