/// @file
/// What a proxy does, without its thread: one turn after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/initiator.hpp"
#include "host/proxy/proxy_state.hpp"
#include "host/proxy/target.hpp"

namespace pgas::detail {

/// *Callers* one thread at a time. *Errors* what the transport and the memory throw: nothing but the destructor may be
/// called after that, and fail().
class proxy_engine final : public transport_events, private message_sender, private target_events {
 public:
  /// All three outlive the engine's last turn.
  proxy_engine(const proxy_settings& settings, transport& network, proxy_memory& memory);

  /// Handles what has come, takes commands, sends. Whether there was anything to do.
  bool turn();
  /// Nothing is under way: no command that is not complete, no message that has not been acknowledged or sent.
  [[nodiscard]] bool idle() const noexcept;
  /// Commands or messages are waiting for other PEs.
  [[nodiscard]] bool waits_for_others() const noexcept;
  /// Acknowledgements wait for a message to go with, or for a few more turns: nobody must sleep on them.
  [[nodiscard]] bool owes_acknowledgements() const noexcept;

  void add_ring(ring& source);
  void remove_ring(const ring& source);
  [[nodiscard]] bool has_rings() const noexcept { return !flights_.empty(); }

  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key);
  /// The transport may use this memory as the local side.
  void add_exposed(const void* at, std::size_t bytes);
  void remove_exposed(const void* at) noexcept;
  void remove_peer_memory(std::uint64_t offset);
  /// After the last turn, before the transport disconnects: lets go of peers' memory and listens to nobody any more.
  void finish();

  /// The world can't go on: says so, once, and drops all commands.
  void fail(int pe, const std::string& what);
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] proxy_statistics statistics() const;

  // ---- transport_events
  void message(int from, std::span<const std::byte> bytes) override;
  void done(transport_token token) override;
  void lost(int pe, const std::string& why) override;

 private:
  struct arrived_reply {
    proxy_op* op;
    peer_state* from;
    std::size_t bytes;
  };

  void send(int pe, message_pool::number message) override;
  [[nodiscard]] bool collects() override;
  std::byte* reply(int pe, std::uint64_t request, std::uint32_t bytes) override;
  [[nodiscard]] bool replied(int pe, std::uint64_t request, std::span<const std::byte> bytes) override;

  [[nodiscard]] std::string deliver(peer_state& from, std::span<const std::byte> bytes);
  [[nodiscard]] std::string execute_operation(peer_state& from, std::span<const std::byte> message);
  [[nodiscard]] bool deliver_to_self();
  void take_effect(peer_state& of, std::uint64_t acknowledged);
  void complete_memory();
  void complete_reads();
  [[nodiscard]] bool serve(in_flight_commands& from);
  void flush();

  proxy_state parts_;
  initiator issuer_;
  target target_;
  std::vector<std::unique_ptr<in_flight_commands>> flights_;
  std::vector<std::unique_ptr<in_flight_commands>> retired_;  ///< whose rings are gone, but not their operations
  std::vector<peer_state*> heard_;      ///< whose messages were carried out and are not visible yet
  std::vector<arrived_reply> arrived_;  ///< whose bytes are not visible yet
  std::vector<peer_state*> leaving_;    ///< lost, while their messages may still be filled in
  fifo<message_pool::number> to_self_;
  bool fetched_ = false;  ///< the transport has written what was got into memory of this PE
  bool failed_ = false;
};

}  // namespace pgas::detail
