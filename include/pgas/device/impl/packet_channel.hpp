/// @file
/// What goes through a packet_channel: messages of packets where load and store reach the other PE, else data and a
/// signal by the proxy.
///
/// Messages are numbered, on each side from 1. Message k lies in half k % 2 of the box, over what is left of message k
/// - 2, and is never cleared. That is safe by the rule that a PE sends message k only when it has received message k -
/// 1 of the other PE: that one sent k - 1 when it had received k - 2, so nothing that is written over is still waited
/// for. What is left of k - 2 or an earlier one is not taken for k, as its number is another one.
///
/// After number 2^32 - 1 comes 2, in the other half again. Before then both halves of the box must be free of numbers
/// that come again, so each is cleared at the one time at which nobody writes to it: by its own PE, before that sends
/// the message that the other PE has to see before it writes there (renews()).
#pragma once

#include "pgas/device/impl/agree.hpp"
#include "pgas/device/impl/packet_unit.hpp"
#include "pgas/device/signal.hpp"

namespace pgas {

/// The unit of a channel's memory, of which a program allocates packet_lines(). What is in it is the library's own.
struct alignas(128) packet_line {
  std::uint64_t words[16];
};

namespace detail {

/// The first line of a box.
struct box_header {
  std::uint32_t sent;      ///< number of the last message that this PE has sent
  std::uint32_t received;  ///< the same of those that it has received
  signal_t arrived[2];     ///< by halves: the number of the message there, if it came by the proxy
};
static_assert(sizeof(box_header) <= sizeof(packet_line));

/// Lines of one half of a box for messages of up to `bytes`.
[[nodiscard]] PGAS_HD constexpr std::size_t packet_half_lines(std::size_t bytes) {
  const std::size_t units = bytes == 0 ? 1 : (bytes + unit_bytes - 1) / unit_bytes;
  return (units * packed_unit_bytes + sizeof(packet_line) - 1) / sizeof(packet_line);
}

/// The number after `number`.
[[nodiscard]] PGAS_FN std::uint32_t next_number(std::uint32_t number) { return number == ~0u ? 2 : number + 1; }
/// Whether the half that message `number` does not lie in is cleared before it is sent: once in each turn of the
/// numbers for either half.
[[nodiscard]] PGAS_FN bool renews(std::uint32_t number) { return number == ~0u || number == 2; }

/// What a thread knows of a channel: packet_channel.
struct channel_state {
  packet_line* in;     ///< this PE's box
  packet_line* out;    ///< what it calls the other PE's
  packet_line* there;  ///< the same as an address; null where load and store don't get there
  std::uint32_t half;  ///< lines of half a box
  std::int32_t pe;
  std::uint32_t sent;
  std::uint32_t received;

  [[nodiscard]] PGAS_FN box_header* header() const { return reinterpret_cast<box_header*>(in); }
  /// Where a message lies in a box.
  [[nodiscard]] PGAS_FN packet_line* place(packet_line* box, std::uint32_t number) const {
    return box + (1 + (number & 1) * half);
  }
  /// Bytes of data that a message may have.
  [[nodiscard]] PGAS_FN std::uint64_t room() const { return half * (sizeof(packet_line) / 2); }
};

/// Where a message lies, on whichever PE.
struct packed_message {
  vec16* at;
  std::uint32_t units;
  std::uint32_t number;
};

/// A message of `bytes` bytes in a box. An empty one has a unit, too.
[[nodiscard]] PGAS_FN packed_message message_in(packet_line* place, std::uint32_t bytes, std::uint32_t number) {
  constexpr std::uint32_t unit = unit_bytes;
  return {reinterpret_cast<vec16*>(place), bytes == 0 ? 1 : (bytes + unit - 1) / unit, number};
}

/// One thread's share of a message. In line: a call would cost as much as a store. And as few instructions as can be
/// for those who have one unit or none: all warps of a block go through them, one after another. Who has more asks for
/// their lines first, as a block of 1024 threads has no registers for several.
template <class Piece>
PGAS_FN void pack_message(packed_message message, const std::byte* src, std::uint32_t pieces, share me) {
  if (pieces == 0) {
    if (me.rank == 0) send_unit(message.at, message.units, message.number, vec16{});
    return;
  }
  constexpr std::uint32_t width = 16 / sizeof(Piece);
  PGAS_ROLLED
  for (std::uint32_t u = me.rank + me.size; u < message.units; u += me.size) prefetch(src + std::size_t{u} * 16);
  PGAS_ROLLED
  for (std::uint32_t u = me.rank; u < message.units; u += me.size) {
    const vec16 data = load_elements<Piece>(src + std::size_t{u} * 16, pieces - u * width);
    send_unit(message.at + u, message.units, message.number, data);
  }
}

/// How a thread's share of receiving a message ended.
struct unpacked {
  failure why;
  std::uint32_t unit;  ///< of the thread's, the first that it may have missed
};

/// Units `first`, `first + me.size`, ... of a message, polled at once.
template <class Piece, std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure unpack_units(const control_block* control, const packed_message& message, std::byte* dst,
                                           std::uint32_t pieces, std::uint32_t first, share me) {
  constexpr std::uint32_t width = 16 / sizeof(Piece);
  const vec16* at[Batch];
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) at[b] = message.at + first + b * me.size;
  vec16 data[Batch];
  const failure why = await_units(control, at, message.units, message.number, data);
  if (why != failure::none) PGAS_UNLIKELY
    return why;
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) {
    const std::uint32_t u = first + b * me.size;
    if (u * width < pieces) store_elements<Piece, space::any>(dst + std::size_t{u} * 16, data[b], pieces - u * width);
  }
  return failure::none;
}

/// How many units a thread waits for at once, if it has that many: for more a block of 1024 threads has no registers.
inline constexpr std::uint32_t units_at_once = 2;

/// One thread's share of receiving a message.
template <class Piece>
[[nodiscard]] PGAS_FN unpacked unpack_message(const control_block* control, packed_message message, std::byte* dst,
                                              std::uint32_t pieces, share me) {
  std::uint32_t u = me.rank;
  for (; u + (units_at_once - 1) * me.size < message.units; u += units_at_once * me.size) {
    const failure why = unpack_units<Piece, units_at_once>(control, message, dst, pieces, u, me);
    if (why != failure::none) PGAS_UNLIKELY
      return {why, u};
  }
  return {u < message.units ? unpack_units<Piece, 1>(control, message, dst, pieces, u, me) : failure::none, u};
}

/// Ends the caller if a message is longer than there is room for, or comes before one has gone the other way.
/// @param mine the last message this way @param other the last one the other way
PGAS_COLD void refuse(context ctx, operation what, std::int32_t pe, std::uint64_t bytes, std::uint64_t room,
                      std::uint32_t mine, std::uint32_t other) {
  const bool fits = bytes <= room;
  failure_record found = bad_argument(fits ? failure::out_of_turn : failure::too_long, what, pe, 0, bytes);
  found.expected = fits ? next_number(mine) : room;
  found.seen = other;
  report(ctx, found);
  end_thread();
}
template <class T>
PGAS_FN void check_turn(const context& ctx, operation what, const channel_state& channel, std::size_t count,
                        std::uint32_t mine, std::uint32_t other) {
  const bool fits = count <= channel.room() / sizeof(T);
  if (!fits || mine == next_number(other)) PGAS_UNLIKELY {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    refuse(ctx, what, ctx.team().world_pe(channel.pe), count <= huge / sizeof(T) ? count * sizeof(T) : huge,
           channel.room(), mine, other);
  }
}

/// Clears half a box for numbers that come again. *Callers* all threads of the group. *Order* before what it sends
/// then.
template <PGAS_IS(group) G>
PGAS_COLD void clear_half(G g, packet_line* half, std::uint32_t lines) {
  auto* const all = reinterpret_cast<vec16*>(half);
  const std::size_t n = lines * (sizeof(packet_line) / sizeof(vec16));
  for (std::size_t i = static_cast<std::size_t>(g.thread_rank()); i < n; i += static_cast<std::size_t>(g.size()))
    store_relaxed(all + i, vec16{});
  g.sync();
  fence_release();
}

/// Says which packet did not come.
PGAS_COLD void report_lost_message(context ctx, std::int32_t pe, packed_message message, unpacked end, share me) {
  std::uint32_t u = end.unit;
  std::uint32_t seen = number_seen(message.at + u, message.units, message.number);
  for (; seen == message.number && u + me.size < message.units; u += me.size)
    seen = number_seen(message.at + u + me.size, message.units, message.number);
  report(ctx, lost_wait(end.why, operation::receive, ctx.team().world_pe(pe), ctx.offset(message.at + u), cmp::eq,
                        message.number, seen));
}

/// Sends a message by the proxy. *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_FN void send_far(const context& ctx, const G& g, const channel_state& now, const void* src, std::size_t bytes) {
  const auto* const its = reinterpret_cast<const box_header*>(now.out);
  proxied_put_signal(
      far_copy{sender_of(ctx), ctx.team().world_pe(now.pe), now.place(now.out, now.sent), src, bytes, until::local_done},
      {&its->arrived[now.sent & 1], now.sent, signal_op::set}, g);
}

/// Waits for a message that comes by the proxy, and copies it; ends the group if it has to give up. *Callers* all
/// threads of the group.
template <class T, PGAS_IS(group) G>
PGAS_COLD void receive_far(context ctx, G g, channel_state now, T* dst, std::size_t count) {
  const signal_t* const arrived = &now.header()->arrived[now.received & 1];
  bool came = false;
  if (g.thread_rank() == 0) {
    signal_t seen = 0;
    const failure why = poll_until(ctx.control_, [&] {
      seen = load_relaxed(arrived);
      return seen == now.received;
    });
    came = why == failure::none;
    if (!came)
      report(ctx, lost_wait(why, operation::receive, ctx.team().world_pe(now.pe), ctx.offset(arrived), cmp::eq,
                            signal_t{now.received}, seen));
    fence_acquire();
  }
  go_on_with_first(g, came);
  copy_by<direction::get>(g, dst, reinterpret_cast<const T*>(now.place(now.in, now.received)), count);
}

}  // namespace detail
}  // namespace pgas
