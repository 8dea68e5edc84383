/// @file
/// The state that the engine, its initiator and its target share, for each peer and for all peers. The three classes
/// call functions of the state. The state calls no functions of these classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/slot_map.hpp"
#include "host/proxy/buffer_pool.hpp"
#include "host/proxy/exposed_segments.hpp"
#include "host/proxy/grow_only_queue.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/memory_access.hpp"
#include "host/proxy/proxy_settings.hpp"
#include "host/proxy/proxy_statistics.hpp"
#include "host/proxy/reorder_buffer.hpp"
#include "host/proxy/send_queue.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

/// A request that was sent as a message and whose reply has not arrived.
struct pending_request {
  proxy_op* op = nullptr;
  int pe = -1;
  std::byte* local = nullptr;  ///< receives the bytes; null: the bytes are the answer of the command
  block_list blocks;           ///< the blocks at `local`
  std::size_t bytes = 0;       ///< the size of the reply

  /// The part of proxy_settings::reply_bytes that the request uses. A small reply counts as 64 bytes.
  [[nodiscard]] static std::size_t cost(std::size_t bytes) noexcept { return std::max(bytes, std::size_t{64}); }
};

struct peer_state;

/// A put or get that the transport executes.
struct chunk_in_flight {
  proxy_op* op = nullptr;
  peer_state* peer = nullptr;
};

/// The state of one peer in a proxy: messages in both directions, operations that wait for the peer, and its memory.
struct peer_state {
  peer_state(int number, buffer_pool& pool, message_output& output) : pe(number), out(number, pool, output) {}

  /// A message whose acknowledgement an operation waits for. The message contains the signal of the operation or a part
  /// of its data.
  struct pending_ack {
    std::uint64_t sequence = 0;
    proxy_op* op = nullptr;
    bool is_signal = false;  ///< true for a signal without data; false for a part of the data
  };

  const int pe;
  send_queue out;
  reorder_buffer in;
  /// Entries of messages that have not been acknowledged, in the order of the messages.
  grow_only_queue<pending_ack> pending_acks;
  grow_only_queue<proxy_op*> bulk_ops;  ///< operations that have not been issued completely
  exposed_segments memory;
  command_counts counts;
  std::size_t requested_bytes = 0;  ///< the bytes of replies that have not arrived
  std::size_t waiting_lists = 0;    ///< the lists in `bulk_ops`
  std::size_t chunks = 0;           ///< the chunks in flight through the transport
  std::size_t new_chunks = 0;       ///< the chunks that were issued in this turn
  bool lost = false;
  bool active = false;  ///< whether the peer is in engine_state::active
};

struct engine_state {
  /// The bit of a transport token that marks a chunk. The tokens of messages do not have this bit. The other bits of
  /// the token are a key.
  static constexpr transport_token chunk_token = transport_token{1} << 63;

  /// @param message_bytes the size of the longest message
  engine_state(const proxy_settings& how, transport& over, memory_access& local, std::size_t message_bytes)
      : settings(how),
        network(over),
        memory(local),
        payload(payload_limit(message_bytes)),
        eager(std::min(how.eager_bytes, payload)),
        pool(message_bytes, local.buffers()),
        output(how.me, pool, local, over, counts) {
    for (int pe = 0; pe < how.n; ++pe) peers.emplace_back(pe, pool, output);
  }
  engine_state(const engine_state&) = delete;
  engine_state& operator=(const engine_state&) = delete;

  const proxy_settings& settings;
  transport& network;
  memory_access& memory;
  const std::size_t payload;  ///< the largest payload of one message operation
  const std::size_t eager;    ///< larger operations are bulk operations
  proxy_statistics counts;
  buffer_pool pool;
  message_output output;
  std::deque<peer_state> peers;     ///< the state of each peer, indexed by PE
  std::vector<peer_state*> active;  ///< peers that might have messages to send or bulk operations to issue
  slot_map<pending_request> requests;
  slot_map<chunk_in_flight> chunks;
  /// Replies that have arrived; their bytes are visible after memory_access::complete().
  std::vector<pending_request> replies;
  exposed_segments exposed;  ///< memory of this process, by address, that the transport can access and the host cannot

  [[nodiscard]] peer_state& to(int pe) noexcept { return peers[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] const peer_state& to(int pe) const noexcept { return peers[static_cast<std::size_t>(pe)]; }
  /// Makes the engine process `peer` at the end of this turn.
  void touch(peer_state& peer) {
    if (peer.active) return;
    peer.active = true;
    active.push_back(&peer);
  }
  /// Called when a producer waits for all operations in flight to `peer`.
  void await_acks(peer_state& peer) {
    if (peer.pending_acks.empty()) return;
    peer.out.await(peer.pending_acks.back().sequence);
    touch(peer);
  }
};

}  // namespace pgas::detail
