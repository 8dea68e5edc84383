/// @file
/// What a proxy knows of each peer: messages to and from it, operations that wait for it, its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/proxy/buffer_pool.hpp"
#include "host/proxy/grow_only_queue.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/proxy_statistics.hpp"
#include "host/proxy/send_queue.hpp"
#include "host/proxy/wire_format.hpp"

namespace pgas::detail {

class reorder_buffer {
 public:
  enum class arrival { in_order, out_of_order, invalid };

  reorder_buffer() { kept_.fill(buffer_pool::none); }

  /// Whether message `sequence` is to be executed now, to be kept for later, or can't be one of this sender.
  [[nodiscard]] arrival classify(std::uint64_t sequence) const noexcept {
    if (sequence == executed_ + 1) return arrival::in_order;
    if (sequence <= executed_ || !in_window(sequence) || kept_[sequence % message_window] != buffer_pool::none)
      return arrival::invalid;
    return arrival::out_of_order;
  }
  /// Whether the sender's window lets it send message `sequence`.
  [[nodiscard]] bool in_window(std::uint64_t sequence) const noexcept { return sequence <= executed_ + message_window; }
  void keep(std::uint64_t sequence, buffer_pool::key message) noexcept { kept_[sequence % message_window] = message; }
  /// Counts the next message as executed; returns the one after it, if that has arrived.
  [[nodiscard]] buffer_pool::key executed() noexcept {
    ++executed_;
    buffer_pool::key& next = kept_[(executed_ + 1) % message_window];
    const buffer_pool::key message = next;
    next = buffer_pool::none;
    return message;
  }
  /// The effects of all executed messages are visible.
  void complete() noexcept { complete_ = executed_; }
  /// The last message that may be acknowledged.
  [[nodiscard]] std::uint64_t completed() const noexcept { return complete_; }

 private:
  std::array<buffer_pool::key, message_window> kept_;
  std::uint64_t executed_ = 0;
  std::uint64_t complete_ = 0;
};

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
