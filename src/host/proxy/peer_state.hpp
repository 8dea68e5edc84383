/// @file
/// All that a proxy keeps for one other PE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/proxy/fifo.hpp"
#include "host/proxy/peer_memory.hpp"
#include "host/proxy/proxy_op.hpp"
#include "host/proxy/reorder_buffer.hpp"
#include "host/proxy/send_queue.hpp"

namespace pgas::detail {

struct peer_state {
  peer_state(int number, message_pool& pool, message_sender& sender) : pe(number), out(number, pool, sender) {}

  /// What takes effect with a message.
  struct effect {
    std::uint64_t sequence = 0;
    proxy_op* op = nullptr;
    bool is_signal = false;  ///< that was sent on its own; else a part of the data
  };

  const int pe;
  send_queue out;
  reorder_buffer in;
  fifo<effect> effects;  ///< of messages that have not been acknowledged, in their order
  fifo<proxy_op*> jobs;  ///< large things that have not been issued as a whole
  peer_memory memory;
  std::size_t awaited_bytes = 0;  ///< of replies
  std::size_t pieces = 0;         ///< under way through the transport
  std::size_t fresh_pieces = 0;   ///< of these, begun in this turn
  bool lost = false;
  bool active = false;  ///< in the engine's list of those that have work
};

}  // namespace pgas::detail
