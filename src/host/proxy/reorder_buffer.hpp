/// @file
/// The messages of one peer that arrived before their turn. Transports may deliver messages in any order.
#pragma once

#include <array>
#include <cstdint>

#include "host/proxy/buffer_pool.hpp"
#include "host/proxy/wire_format.hpp"

namespace pgas::detail {

/// Puts messages into the order of their numbers. The window of the sender limits the number of kept messages.
class reorder_buffer {
 public:
  enum class arrival { in_order, out_of_order, invalid };

  reorder_buffer() { kept_.fill(buffer_pool::none); }

  /// Whether message `sequence` is to be executed now, is to be kept for later, or cannot be a message of this sender.
  [[nodiscard]] arrival classify(std::uint64_t sequence) const noexcept {
    if (sequence == executed_ + 1) return arrival::in_order;
    if (sequence <= executed_ || !in_window(sequence) || kept_[sequence % message_window] != buffer_pool::none)
      return arrival::invalid;
    return arrival::out_of_order;
  }
  /// Whether the sender's window allows message `sequence`.
  [[nodiscard]] bool in_window(std::uint64_t sequence) const noexcept { return sequence <= executed_ + message_window; }
  void keep(std::uint64_t sequence, buffer_pool::key message) noexcept { kept_[sequence % message_window] = message; }
  /// Counts the next message as executed. Returns the following message if it has arrived.
  [[nodiscard]] buffer_pool::key executed() noexcept {
    ++executed_;
    buffer_pool::key& next = kept_[(executed_ + 1) % message_window];
    const buffer_pool::key message = next;
    next = buffer_pool::none;
    return message;
  }
  /// Called when the effects of all executed messages are visible.
  void complete() noexcept { complete_ = executed_; }
  /// The number of the last message that may be acknowledged.
  [[nodiscard]] std::uint64_t completed() const noexcept { return complete_; }

 private:
  std::array<buffer_pool::key, message_window> kept_;
  std::uint64_t executed_ = 0;
  std::uint64_t complete_ = 0;
};

}  // namespace pgas::detail
