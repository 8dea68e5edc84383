/// @file
/// Channels for small messages back and forth between two PEs, for example the halos of a stencil. The data carries the
/// flag that the receiver waits for. A message takes one link latency; put_signal() takes one latency for the data and
/// one for the signal. However, a message transfers twice as many bytes as put_signal(), so put_signal() is better for
/// long messages.
///
/// A channel consists of two *boxes*. Each of the two PEs has one box, which receives the messages from the other PE. A
/// box is memory in the symmetric heap, initially zero. A channel requires no other memory:
///
///     auto boxes = world.allocate<pgas::packet_line>(2 * pgas::packet_lines(bytes), pgas::initialize::zero);
///
///     pgas::packet_channel left(ctx, block, from_left, from_right, bytes, left_pe);  // its right is this PE
///     pgas::packet_channel right(ctx, block, from_right, from_left, bytes, right_pe);
///     for (int step = 0; step < n; ++step) {
///       pgas::send(ctx, block, left, first_row, nx);
///       pgas::send(ctx, block, right, last_row, nx);
///       pgas::receive(ctx, block, left, row_above, nx);
///       pgas::receive(ctx, block, right, row_below, nx);
///       ...
///     }
///
/// Each side receives one message for each message that it sends, in either order; a side without data sends an empty
/// message. A message also acknowledges the previous message in the other direction. A channel has no other
/// acknowledgement and needs no reset. A CUDA graph may repeat the kernel. The messages of the two directions may
/// differ in length, but sender and receiver must agree on the length of each message.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/ll/packet_box.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief The number of lines of a box for messages of up to `bytes` bytes.
///
/// `bytes` is less than 2 GiB.
[[nodiscard]] PGAS_HD constexpr std::size_t packet_lines(std::size_t bytes) {
  return 1 + 2 * detail::packet_half_lines(bytes);
}

/// @brief One side of a channel. Each thread of a group holds a copy of the object while the group uses the channel.
///
/// The box stores the progress of the channel, so the next kernel, or another group, can open the channel again and
/// continue.
class packet_channel {
 public:
  /// @brief Opens this side of a channel with PE `pe`, which may be this PE.
  ///
  /// *Callers* all threads of the group `g`, converged; only one group at a time may use a box.
  /// *Units* `bytes` is the size of the longest message, the same on both PEs.
  /// *Memory* `in` and `out` are symmetric memory of packet_lines(bytes) lines each. `in` is this PE's box for messages
  /// from PE `pe`. `out` is the box of PE `pe` for messages from this PE, given as an address on this PE.
  /// *Errors* if checks are on, a box outside the heap ends the group.
  template <PGAS_IS(group) G>
  PGAS_FN packet_channel(const context& ctx, const G& g, packet_line* in, packet_line* out, std::size_t bytes,
                         std::int32_t pe) {
    detail::check(ctx, detail::operation::receive, in, packet_lines(bytes), pe);
    detail::check(ctx, detail::operation::send, out, packet_lines(bytes), pe);
    state_ = {in, out, ctx.remote(out, pe), static_cast<std::uint32_t>(detail::packet_half_lines(bytes)), 0, pe, 0, 0};
    if (state_.remote != nullptr) state_.direct = state_.room();
    g.sync();  // after this sync, the box contains the counts that an earlier use by this group has stored
    state_.sent = detail::load_relaxed(&state_.header()->sent);
    state_.received = detail::load_relaxed(&state_.header()->received);
    g.sync();  // no thread changes the counts before all threads have read the counts
  }
  /// @brief Opens this side of a channel for one thread instead of a group.
  PGAS_FN packet_channel(const context& ctx, packet_line* in, packet_line* out, std::size_t bytes, std::int32_t pe)
      : packet_channel(ctx, this_thread{}, in, out, bytes, pe) {}

  detail::channel_state state_;  ///< for the library's internal use
};

/// @brief Sends `count` elements to the other PE.
///
/// *Callers* all threads of the group `g` that opened the channel, converged.
/// *Units* `count` is a number of elements; 0 sends an empty message. *Memory* `src` is any memory of this PE.
/// *On return* this thread's part of `src` has been read; other threads might not have read their parts yet.
/// Synchronize the group before `src` is reused.
/// *Order* the message follows the group's earlier accesses to `src`. The message does not order accesses to other
/// memory: the receiver might not see earlier puts and stores. To send data in order with a signal, use
/// put_signal().
/// *Errors* ends the group with a record if the message is longer than the channel allows, or if the group sends twice
/// without a receive in between.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void send(const context& ctx, const G& g, packet_channel& channel, const T* src, std::size_t count) {
  detail::channel_state& now = channel.state_;
  if (detail::needs_slow_path<T>(now, count, now.sent, now.received)) PGAS_UNLIKELY {
    now.sent = detail::send_slow(detail::slow_call<const T>{ctx.copy_, now, src, count}, g);
    return;
  }
  using piece = detail::ll_piece<T>;
  const detail::outgoing message = detail::message_to(now, ++now.sent, src, count);
  const detail::slice me = detail::slice_of(g);
  g.sync();
  if (me.rank >= message.packets) return;
  if (message.packets > me.size) {
    detail::send_packets<piece>(message, me);
  } else {
    detail::send_packet(message, me.rank, detail::load_packet<piece>(message, me.rank));
  }
  if (me.rank == 0) detail::store_relaxed(&now.header()->sent, now.sent);
}

/// @brief Like send(), for a channel that one thread instead of a group has opened.
template <PGAS_IS(rma_type) T>
PGAS_FN void send(const context& ctx, packet_channel& channel, const T* src, std::size_t count) {
  send(ctx, this_thread{}, channel, src, count);
}

/// @brief Waits for the other PE's next message and stores its `count` elements.
///
/// *Callers* all threads of the group `g` that opened the channel, converged.
/// *Units* `count` is the number of elements that was sent. *Memory* `dst` is any memory of this PE.
/// *On return* `dst` is complete, for all threads of the group.
/// *Order* the group's earlier accesses to `dst` come before the receive. The receive orders only the message, not
/// accesses to other memory.
/// *Errors* ends the group with a record that names the other PE when the world is aborted or the deadline passes. If
/// the other PE has sent fewer than `count` elements, the wait ends in the same way. Two more errors end the group with
/// a record: a message that is longer than the channel allows, and a second receive before this PE has sent a message.
/// If a second receive did not end the group, both PEs would wait forever.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void receive(const context& ctx, const G& g, packet_channel& channel, T* dst, std::size_t count) {
  detail::channel_state& now = channel.state_;
  g.sync();
  if (detail::needs_slow_path<T>(now, count, now.received, now.sent)) PGAS_UNLIKELY {
    now.received = detail::receive_slow(detail::slow_call<T>{ctx.copy_, now, dst, count}, g);
    return;
  }
  using piece = detail::ll_piece<T>;
  const detail::incoming message = detail::message_from(now, ++now.received, dst, count);
  const detail::slice me = detail::slice_of(g);
  bool lost = false;
  if (me.rank < message.packets) {
    if (me.rank == 0) detail::store_relaxed(&now.header()->received, now.received);  // no thread waits for this store
    if (message.packets > me.size || !detail::receive_soon<piece>(message, me.rank))
      lost = !detail::receive_packets<piece>(ctx.copy_, now.pe, message, me);
  }
  detail::exit_if_any(g, lost);
}

/// @brief Like receive(), for a channel that one thread instead of a group has opened.
template <PGAS_IS(rma_type) T>
PGAS_FN void receive(const context& ctx, packet_channel& channel, T* dst, std::size_t count) {
  receive(ctx, this_thread{}, channel, dst, count);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
