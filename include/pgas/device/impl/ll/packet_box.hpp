/// @file
/// The messages of a packet_channel: LL packets if the other PE is direct, otherwise data and a signal through the
/// proxy. Used by `device/packet_channel.hpp`. The channel uses the LL protocol with two alternating halves and
/// implicit credits (each message acknowledges the previous one).
///
/// A message is split into packets with 8 bytes of data (`ll_packet.hpp`); thread k of the group handles packets k, k +
/// size and so on. Each side numbers its messages from 1. Message k overwrites message k - 2 in half k % 2 of the box,
/// which is never cleared. The overwriting is safe, because a PE sends message k only after message k - 1 of the other
/// PE has arrived. The other PE had received message k - 2 before it sent message k - 1. So no thread still waits for a
/// packet that is overwritten. A packet of message k - 2 or older is never taken for a packet of message k, because the
/// number in the packet is not k.
///
/// Numbers have 32 bits. The number after 2^32 - 1 is 2, so the halves still alternate, and no message has number 0.
/// Before the numbers repeat, each PE clears the two halves of its box. A PE clears a half while no PE writes to that
/// half, and then sends a message. The other PE writes to the half only after it has received that message (renews()).
#pragma once

#include "pgas/device/impl/ll/ll_packet.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"
#include "pgas/device/signal.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The first line of a box.
struct box_header {
  std::uint32_t sent;      ///< number of the last message that this PE has sent
  std::uint32_t received;  ///< number of the last message that this PE has received
  signal_t arrived[2];     ///< for each half the number of its message, if the proxy delivered the message
};
static_assert(sizeof(box_header) <= sizeof(packet_line));

/// The number of packets of a message. An empty message has one packet.
[[nodiscard]] PGAS_HD constexpr std::size_t packets_of(std::size_t bytes) {
  return bytes == 0 ? 1 : (bytes + sizeof(packet_data) - 1) / sizeof(packet_data);
}

/// The number of lines of one half of a box for messages of up to `bytes` bytes.
[[nodiscard]] PGAS_HD constexpr std::size_t packet_half_lines(std::size_t bytes) {
  return (packets_of(bytes) + packets_in_line - 1) / packets_in_line;
}

/// The number of the next message.
[[nodiscard]] PGAS_FN std::uint32_t next_number(std::uint32_t number) { return number == ~0u ? 2 : number + 1; }
/// Whether the other half is cleared before message `number` is sent. Each half is cleared once before the numbers
/// repeat.
[[nodiscard]] PGAS_FN bool renews(std::uint32_t number) { return number == ~0u || number == 2; }

/// A thread's copy of the state of a packet_channel.
struct channel_state {
  packet_line* in;       ///< this PE's box
  packet_line* out;      ///< the other PE's box, by its address on this PE
  packet_line* remote;   ///< load/store accessible address of that box; null if there is none
  std::uint32_t half;    ///< lines of half a box
  std::uint32_t direct;  ///< the maximum number of bytes of data in a message to `remote`
  std::int32_t pe;
  std::uint32_t sent;
  std::uint32_t received;

  [[nodiscard]] PGAS_FN box_header* header() const { return reinterpret_cast<box_header*>(in); }
  /// The location of a message in a box.
  [[nodiscard]] PGAS_FN packet_line* place(packet_line* box, std::uint32_t number) const {
    return box + (1 + (number & 1) * half);
  }
  [[nodiscard]] PGAS_FN vec16* packets(packet_line* box, std::uint32_t number) const {
    return reinterpret_cast<vec16*>(place(box, number));
  }
  /// The maximum number of bytes of data in a message.
  [[nodiscard]] PGAS_FN std::uint32_t room() const { return half * std::uint32_t{sizeof(packet_line) / 2}; }
};

/// Whether a message takes the slow path. Nearly all messages take the fast path: the other PE is direct, the message
/// has data but is not too long, the order is correct, and no half of the box must be cleared. All warps of a block
/// execute this test, and the test adds to the latency of a message. All other code is out of line. @param mine the
/// last message in this direction
/// @param other the last message in the other direction
template <class T>
[[nodiscard]] PGAS_FN bool needs_slow_path(const channel_state& now, std::size_t count, std::uint32_t mine,
                                           std::uint32_t other) {
  return count - 1 >= now.direct / sizeof(T) ||          // no data, too much data, or through the proxy
         static_cast<std::int32_t>(mine - other) > 0 ||  // out of order
         mine - 2 >= ~std::uint32_t{3};                  // number 0, 1, or one of the two largest: see renews()
}

/// A message in transfer: its packets and its data on this PE. The struct is passed by value, so it stays in registers.
template <class Byte>
struct packed_message {
  vec16* at;
  std::uint32_t packets;
  std::uint32_t number;
  Byte* data;
  std::uint32_t bytes;
};
using outgoing = packed_message<const std::byte>;
using incoming = packed_message<std::byte>;

/// Message `number` in a box.
template <class T>
[[nodiscard]] PGAS_FN outgoing message_to(const channel_state& now, std::uint32_t number, const T* src,
                                          std::size_t count) {
  const auto bytes = static_cast<std::uint32_t>(count * sizeof(T));
  return {now.packets(now.remote, number), static_cast<std::uint32_t>(packets_of(bytes)), number,
          reinterpret_cast<const std::byte*>(src), bytes};
}
template <class T>
[[nodiscard]] PGAS_FN incoming message_from(const channel_state& now, std::uint32_t number, T* dst, std::size_t count) {
  const auto bytes = static_cast<std::uint32_t>(count * sizeof(T));
  return {now.packets(now.in, number), static_cast<std::uint32_t>(packets_of(bytes)), number,
          reinterpret_cast<std::byte*>(dst), bytes};
}

/// The data of packet `u`, loaded as this type. The message must have data at that position.
template <class Piece>
[[nodiscard]] PGAS_FN packet_data load_packet(outgoing message, std::uint32_t u) {
  const std::uint32_t at = u * std::uint32_t{sizeof(packet_data)};
  return load_elements<Piece, packet_data>(message.data + at, (message.bytes - at) / std::uint32_t{sizeof(Piece)});
}
PGAS_FN void send_packet(outgoing message, std::uint32_t u, packet_data data) {
  store_relaxed(message.at + u, make_ll_packet(data, message.number));
}
template <class Piece>
PGAS_FN void store_packet(incoming message, std::uint32_t u, const vec16& packet) {
  const std::uint32_t at = u * std::uint32_t{sizeof(packet_data)};
  store_elements<Piece, space::any>(message.data + at, data_of(packet),
                                    (message.bytes - at) / std::uint32_t{sizeof(Piece)});
}

/// The packets that a thread handles at the same time: a block of 1024 threads has no registers for more.
inline constexpr std::uint32_t packets_at_once = 4;

/// One thread's share of sending a message that is not empty.
template <class Piece>
PGAS_OUTLINE void send_packets(outgoing message, slice me) {
  PGAS_ROLLED
  for (std::uint32_t first = me.rank; first < message.packets; first += packets_at_once * me.size) {
    packet_data data[packets_at_once];
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < packets_at_once; ++b) {
      const std::uint32_t u = first + b * me.size;
      data[b] = load_packet<Piece>(message, u < message.packets ? u : first);
    }
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < packets_at_once; ++b) {
      const std::uint32_t u = first + b * me.size;
      if (u < message.packets) send_packet(message, u, data[b]);
    }
  }
}

/// Records the packet that has not arrived.
PGAS_COLD void report_message_wait(const context* copy, std::int32_t pe, wait_state now, incoming message, slice me) {
  const context& ctx = *copy;
  std::uint32_t u = me.rank;
  std::uint32_t seen = epoch_in(message.at + u, message.number);
  for (; seen == message.number && u + me.size < message.packets; u += me.size)
    seen = epoch_in(message.at + u + me.size, message.number);
  report(ctx, wait_record(now, operation::receive, ctx.team().world_pe(pe), ctx.offset(message.at + u), cmp::eq,
                          message.number, seen));
}

/// One thread's share of receiving a message from member `pe`. @return False if a wait failed and the thread has
/// written the failure record.
template <class Piece>
[[nodiscard]] PGAS_OUTLINE bool receive_packets(const context* copy, std::int32_t pe, incoming message, slice me) {
  PGAS_ROLLED
  for (std::uint32_t first = me.rank; first < message.packets; first += packets_at_once * me.size) {
    const vec16* at[packets_at_once];
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < packets_at_once; ++b) {
      const std::uint32_t u = first + b * me.size;
      at[b] = message.at + (u < message.packets ? u : first);
    }
    vec16 packet[packets_at_once];
    const failure why = poll_until(
        copy->control_, [&] { return ll_packets_ready(at, message.number, packet); },
        [&](wait_state now) {
          report_message_wait(copy, pe, now, message, {first, me.size});
        });
    if (why != failure::none) PGAS_UNLIKELY
      return false;
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < packets_at_once; ++b) {
      const std::uint32_t u = first + b * me.size;
      if (u * std::uint32_t{sizeof(packet_data)} < message.bytes && u < message.packets)
        store_packet<Piece>(message, u, packet[b]);
    }
  }
  return true;
}

/// Receives the only packet of a thread. @return False if the packet has not arrived after a few polls.
template <class Piece>
[[nodiscard]] PGAS_FN bool receive_soon(incoming message, std::uint32_t u) {
  const vec16* const at[1] = {message.at + u};
  vec16 packet[1];
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < polls_in_line; ++i) {
    if (ll_packets_ready(at, message.number, packet)) {
      store_packet<Piece>(message, u, packet[0]);
      return true;
    }
  }
  return false;
}

/// Ends the caller because a message is longer than the channel allows, or out of order. @param mine the last message
/// in this direction @param other the last message in the other direction
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
  if (count > channel.room() / sizeof(T) || mine == next_number(other)) PGAS_UNLIKELY {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    refuse(ctx, what, ctx.team().world_pe(channel.pe), count <= huge / sizeof(T) ? count * sizeof(T) : huge,
           channel.room(), mine, other);
  }
}

/// Clears half of a box before numbers repeat. *Callers* all threads of the group. *Order* the half is cleared before
/// later messages are sent.
template <PGAS_IS(group) G>
PGAS_COLD void clear_half(G g, packet_line* half, std::uint32_t lines) {
  auto* const all = reinterpret_cast<vec16*>(half);
  const std::size_t n = lines * (sizeof(packet_line) / sizeof(vec16));
  for (std::size_t i = static_cast<std::size_t>(g.thread_rank()); i < n; i += static_cast<std::size_t>(g.size()))
    store_relaxed(all + i, vec16{});
  g.sync();
  fence_release();
}

/// Sends a message through the proxy. *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_FN void send_proxied(const context& ctx, const G& g, const channel_state& now, std::uint32_t number,
                          const void* src, std::size_t bytes) {
  const auto* const its = reinterpret_cast<const box_header*>(now.out);
  const proxied_copy data{proxy_queue_of(ctx),   ctx.team().world_pe(now.pe), now.place(now.out, number), src, bytes,
                          completion::local_done};
  const trailing_signal after{&its->arrived[number & 1], number, signal_op::set};
  proxied_put_signal(&data, &after, g);
}

/// Waits for a message from the proxy and copies the message. Ends the group if the wait fails. *Callers* all threads
/// of the group.
template <class T, PGAS_IS(group) G>
PGAS_FN void receive_proxied(const context& ctx, const G& g, const channel_state& now, std::uint32_t number, T* dst,
                             std::size_t count) {
  const signal_t* const arrived = &now.header()->arrived[number & 1];
  bool arrived_in_time = false;
  if (g.thread_rank() == 0) {
    signal_t seen = 0;
    const failure why = poll_until(
        ctx.control_,
        [&] {
          seen = load_relaxed(arrived);
          return seen == number;
        },
        [&](wait_state wait) {
          report(ctx, wait_record(wait, operation::receive, ctx.team().world_pe(now.pe), ctx.offset(arrived), cmp::eq,
                                  signal_t{number}, seen));
        });
    arrived_in_time = why == failure::none;
    fence_acquire();
  }
  exit_unless_leader(g, arrived_in_time);
  copy_by<direction::get>(g, dst, reinterpret_cast<const T*>(now.place(now.in, number)), count);
}

/// Copies, in memory, of the arguments of a call that takes the slow path. If the address of the channel were taken,
/// the channel would not stay in registers. See also proxied_copy.
template <class T>
struct slow_call {
  const context* ctx;  ///< context::copy_
  channel_state now;
  T* data;
  std::size_t count;
};

/// Sends the message, and returns the number of the message. *Callers* all threads of the group.
template <class T, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD std::uint32_t send_slow(const slow_call<const T>& call, G g) {
  const channel_state& now = call.now;
  check_turn<T>(*call.ctx, operation::send, now, call.count, now.sent, now.received);
  const std::uint32_t number = next_number(now.sent);
  const slice me = slice_of(g);
  g.sync();
  if (renews(number)) clear_half(g, now.place(now.in, number + 1), now.half);
  if (now.remote == nullptr) {
    send_proxied(*call.ctx, g, now, number, call.data, call.count * sizeof(T));
  } else if (call.count != 0) {
    send_packets<ll_piece<T>>(message_to(now, number, call.data, call.count), me);
  } else if (me.rank == 0) {
    send_packet(message_to(now, number, call.data, 0), 0, 0);
  }
  if (me.rank == 0) store_relaxed(&now.header()->sent, number);
  return number;
}

/// Receives the message, and returns the number of the message. *Callers* all threads of the group.
template <class T, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD std::uint32_t receive_slow(const slow_call<T>& call, G g) {
  const channel_state& now = call.now;
  check_turn<T>(*call.ctx, operation::receive, now, call.count, now.received, now.sent);
  const std::uint32_t number = next_number(now.received);
  const slice me = slice_of(g);
  bool lost = false;
  if (now.remote == nullptr) {
    receive_proxied(*call.ctx, g, now, number, call.data, call.count);
  } else {
    const incoming message = message_from(now, number, call.data, call.count);
    lost = !receive_packets<ll_piece<T>>(call.ctx, now.pe, message, me);
  }
  if (renews(number)) fence_acquire();  // the other PE has cleared the half that this PE sends to next
  exit_if_any(g, lost);
  if (me.rank == 0) store_relaxed(&now.header()->received, number);
  return number;
}

}  // namespace pgas::detail
