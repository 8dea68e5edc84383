/// @file
/// The messages from one PE, which transports may deliver in any order, put into theirs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host/proxy/message_format.hpp"
#include "host/proxy/message_pool.hpp"

namespace pgas::detail {

class reorder_buffer {
 public:
  enum class verdict { due, early, impossible };

  reorder_buffer() { early_.fill(message_pool::none); }

  /// What is to be done with message `sequence`: carried out, kept, or it cannot be.
  [[nodiscard]] verdict judge(std::uint64_t sequence) const noexcept {
    if (sequence == handled_ + 1) return verdict::due;
    if (sequence <= handled_ || !may_be_sent(sequence) || place(sequence) != message_pool::none)
      return verdict::impossible;
    return verdict::early;
  }
  /// Whether the other side's window lets it send message `sequence`.
  [[nodiscard]] bool may_be_sent(std::uint64_t sequence) const noexcept {
    return sequence <= handled_ + message_window;
  }
  void keep(std::uint64_t sequence, message_pool::number message) noexcept { place(sequence) = message; }
  /// The one that is due has been carried out; gives the next, if it came early.
  [[nodiscard]] message_pool::number handled() noexcept {
    ++handled_;
    message_pool::number& next = place(handled_ + 1);
    const message_pool::number message = next;
    next = message_pool::none;
    return message;
  }
  /// All that was carried out is visible now.
  void complete() noexcept { complete_ = handled_; }
  /// What may be acknowledged.
  [[nodiscard]] std::uint64_t completed() const noexcept { return complete_; }

 private:
  [[nodiscard]] message_pool::number& place(std::uint64_t sequence) noexcept {
    return early_[sequence % message_window];
  }
  [[nodiscard]] const message_pool::number& place(std::uint64_t sequence) const noexcept {
    return early_[sequence % message_window];
  }

  std::array<message_pool::number, message_window> early_;
  std::uint64_t handled_ = 0;
  std::uint64_t complete_ = 0;
};

}  // namespace pgas::detail
