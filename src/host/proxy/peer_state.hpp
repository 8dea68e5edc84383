/// @file
/// What a proxy knows of each peer: messages to and from it, operations that wait for it, its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/proxy/grow_only_queue.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/proxy_statistics.hpp"
#include "host/proxy/reorder_buffer.hpp"
#include "host/proxy/send_queue.hpp"

namespace pgas::detail {

/// Memory that the transport can access: segments of a PE's slot by offset, or of this process by address.
class exposed_segments {
 public:
  struct segment {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t imported;  ///< the transport's number
  };

  [[nodiscard]] bool empty() const noexcept { return segments_.empty(); }
  void add(const segment& one) { segments_.push_back(one); }
  /// The segment that contains `offset`; null if there is none.
  [[nodiscard]] const segment* find(std::uint64_t offset) const noexcept {
    for (const segment& candidate : segments_) {
      if (offset - candidate.offset < candidate.bytes) return &candidate;
    }
    return nullptr;
  }
  /// Removes the segments that begin at `offset`, and calls forget(imported) for each.
  template <class F>
  void remove(std::uint64_t offset, const F& forget) {
    std::erase_if(segments_, [&](const segment& candidate) {
      if (candidate.offset != offset) return false;
      forget(candidate.imported);
      return true;
    });
  }
  template <class F>
  void clear(const F& forget) {
    for (const segment& each : segments_) forget(each.imported);
    segments_.clear();
  }

 private:
  std::vector<segment> segments_;  ///< few: segments grow geometrically
};

struct peer_state {
  peer_state(int number, buffer_pool& pool, message_output& output) : pe(number), out(number, pool, output) {}

  /// An operation that takes effect with a message.
  struct pending_ack {
    std::uint64_t sequence = 0;
    proxy_op* op = nullptr;
    bool is_signal = false;  ///< a signal sent without its data; else a part of the data
  };

  const int pe;
  send_queue out;
  reorder_buffer in;
  grow_only_queue<pending_ack> pending_acks;  ///< of messages that have not been acknowledged, in their order
  grow_only_queue<proxy_op*> bulk_ops;        ///< that have not been issued as a whole
  exposed_segments memory;
  command_counts counts;
  std::size_t requested_bytes = 0;  ///< of replies that have not arrived
  std::size_t chunks = 0;           ///< in flight through the transport
  std::size_t new_chunks = 0;       ///< of these, issued in this turn
  bool lost = false;
  bool active = false;  ///< in engine_state::active
};

}  // namespace pgas::detail
