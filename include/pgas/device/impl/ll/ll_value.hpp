/// @file
/// The receive buffers of an ll_channel and of an ll_team_channel, and writes and reads of values in these buffers. The
/// buffer of one message of one thread is called a place. A value is in LL packets if the other PE is direct; otherwise
/// the proxy writes the value. Used by `device/ll_channel.hpp`. The channels use the LL protocol with two alternating
/// places and implicit credits (each message acknowledges the previous one).
///
/// A box consists of tiles, each for eight threads. The first line of a tile has the progress of the threads. The
/// following lines have the packets: one line for each combination of a turn (of two), a sending member, and a packet
/// of a value. A line holds one packet of each of the eight threads. The packets of a warp therefore fill whole lines,
/// and the location of a thread's places does not depend on the group size.
///
/// Message k of a thread is in place k % 2, which is never cleared. The reuse of a place is safe for each thread
/// without a sync. A thread sends message k only after it has received message k - 1 of the same thread of the other
/// PE. That PE sent message k - 1 after it had received message k - 2, which message k overwrites. The order is a
/// control dependency: a store that follows a loop of loads is not made before the loop has found its packet. Every
/// message fills all packets of its place, so the numbers k - 2 and k follow each other in a place. The numbers may
/// restart at any time, and no reset is necessary. Every 8 bytes contain the number of the message, which identifies
/// the message even if a program uses a channel incorrectly. If a program uses a channel incorrectly, a wait can last
/// for ever, but no value is torn or mistaken for another value.
#pragma once

#include "pgas/device/impl/ll/ll_packet.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"

namespace pgas::detail {

/// The number of packets of a value.
template <class T>
inline constexpr std::uint32_t packets_of_value = sizeof(T) > sizeof(packet_data) ? 2 : 1;

/// A value in the form in which packets carry it.
template <std::uint32_t Packets>
struct ll_value {
  packet_data word[Packets];
};
template <class T>
using ll_value_of = ll_value<packets_of_value<T>>;

/// The data of a value of type T: all bytes, or only the first bytes. (The copy is in whole words where possible,
/// because compilers copy other sizes byte by byte.)
template <class T>
[[nodiscard]] PGAS_FN ll_value_of<T> to_ll(const T& value) {
  if constexpr (sizeof(T) == sizeof(ll_value_of<T>)) {
    return bits_as<ll_value_of<T>>(value);
  } else if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4) {
    return {{bits_as<word_of<T>>(value)}};
  } else {
    ll_value_of<T> all{};
    copy_bytes(&all, &value, sizeof(T));
    return all;
  }
}
template <class T>
[[nodiscard]] PGAS_FN T from_ll(const ll_value_of<T>& all) {
  if constexpr (sizeof(T) == sizeof(all)) {
    return bits_as<T>(all);
  } else if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4) {
    return bits_as<T>(static_cast<word_of<T>>(all.word[0]));
  } else {
    struct prefix {
      std::byte at[sizeof(T)];
    } bytes;
    copy_bytes(&bytes, &all, sizeof(T));
    return bits_as<T>(bytes);
  }
}

/// The number of lines of a tile.
[[nodiscard]] PGAS_HD constexpr std::size_t ll_tile_lines(std::size_t members, std::uint32_t packets) {
  return 1 + 2 * members * packets;
}
/// The first packet of a thread's first place. The thread's progress is one line before this packet.
[[nodiscard]] PGAS_FN vec16* ll_places(packet_line* box, std::size_t rank, std::size_t tile_lines) {
  const auto tile = static_cast<std::uint32_t>(rank / packets_in_line);
  return reinterpret_cast<vec16*>(box + tile * static_cast<std::uint32_t>(tile_lines) + 1) + rank % packets_in_line;
}

/// A thread's progress: the numbers of messages sent and received. The box stores the progress while no channel uses
/// the box.
struct ll_progress {
  std::uint32_t sent;
  std::uint32_t received;
};
[[nodiscard]] PGAS_FN ll_progress load_progress(const vec16* places) {
  return load_relaxed(reinterpret_cast<const ll_progress*>(places - packets_in_line));
}
PGAS_FN void store_progress(vec16* places, ll_progress now) {
  store_relaxed(reinterpret_cast<ll_progress*>(places - packets_in_line), now);
}

/// The world numbers of the PEs that write to neighbouring places. Failure records contain these numbers.
struct ll_senders {
  const std::int32_t* members;  ///< null if the members are evenly spaced
  std::int32_t first;
  std::int32_t stride;

  [[nodiscard]] PGAS_FN std::int32_t world_pe(std::uint32_t i) const {
    const auto k = static_cast<std::int32_t>(i);
    return members == nullptr ? first + k * stride : members[k];
  }
};

/// The part of a context that the waits of a channel need.
struct ll_waiter {
  control_block* control;
  std::uintptr_t my_slot;
};
[[nodiscard]] PGAS_FN ll_waiter ll_waiter_of(const context& ctx) { return {ctx.control_, ctx.my_slot_}; }

/// Records a packet that has not arrived.
template <class T>
PGAS_FN void report_receive(ll_waiter who, wait_state now, std::int32_t from, const volatile void* at, T expected,
                            T seen) {
  leave_record(who.control, who.my_slot,
               wait_record(now, operation::receive, from, reinterpret_cast<std::uintptr_t>(at) - who.my_slot, cmp::eq,
                           expected, seen));
}

/// Ends the caller if a message is out of order. @param mine the message in this direction @param other the last
/// message in the other direction
PGAS_FN void check_turn(ll_waiter who, operation what, std::int32_t pe, std::uint32_t mine, std::uint32_t other) {
  if (static_cast<std::int32_t>(mine - other) <= 1) return;
  failure_record found = bad_argument(failure::out_of_turn, what, pe, 0, 0);
  found.expected = mine;
  found.seen = other;
  leave_record(who.control, who.my_slot, found);
  end_thread();
}

template <std::uint32_t Packets>
PGAS_FN void send_ll_value(vec16* remote, std::uint32_t number, const ll_value<Packets>& value) {
  PGAS_UNROLL
  for (std::uint32_t p = 0; p < Packets; ++p)
    store_relaxed(remote + p * packets_in_line, make_ll_packet(value.word[p], number));
}

/// Polls the values of `count` members, at most Batch. `first` is the first packet of the first member. @return Whether
/// all have arrived.
template <std::uint32_t Packets, std::uint32_t Batch>
[[nodiscard]] PGAS_FN bool ll_values_ready(const vec16* first, std::uint32_t count, std::uint32_t number,
                                           ll_value<Packets> (&values)[Batch]) {
  const vec16* at[Batch * Packets];
  PGAS_UNROLL
  for (std::uint32_t i = 0; i < Batch * Packets; ++i) {
    const std::uint32_t member = i / Packets;
    at[i] = first + ((member < count ? member : 0) * Packets + i % Packets) * packets_in_line;
  }
  vec16 packet[Batch * Packets];
  const bool ready = ll_packets_ready(at, number, packet);
  PGAS_UNROLL
  for (std::uint32_t i = 0; i < Batch * Packets; ++i) values[i / Packets].word[i % Packets] = data_of(packet[i]);
  return ready;
}

/// Records the first value that has not arrived.
template <std::uint32_t Packets>
PGAS_COLD void report_ll_values(ll_waiter who, wait_state now, ll_senders from, const vec16* first, std::uint32_t count,
                                std::uint32_t number) {
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < count * Packets; ++i) {
    const vec16* const packet = first + i * packets_in_line;
    const std::uint32_t seen = epoch_in(packet, number);
    if (seen != number) return report_receive(who, now, from.world_pe(i / Packets), packet, number, seen);
  }
}

/// Slow path: polls until the values have arrived, or ends the caller. The caller then loads the values again. After a
/// long wait, the additional load does not matter.
template <std::uint32_t Packets, std::uint32_t Batch>
PGAS_COLD void await_ll_values(ll_waiter who, ll_senders from, const vec16* first, std::uint32_t count,
                               std::uint32_t number) {
  const failure why = poll_until(
      who.control,
      [&] {
        ll_value<Packets> values[Batch];
        return ll_values_ready(first, count, number, values);
      },
      [&](wait_state now) { report_ll_values<Packets>(who, now, from, first, count, number); });
  if (why != failure::none) end_thread();
}

/// Waits for the values.
template <std::uint32_t Packets, std::uint32_t Batch>
PGAS_FN void receive_ll_values(const context& ctx, ll_senders from, const vec16* first, std::uint32_t count,
                               std::uint32_t number, ll_value<Packets> (&values)[Batch]) {
  for (;;) {
    PGAS_ROLLED
    for (std::uint32_t i = 0; i < polls_in_line; ++i) {
      if (ll_values_ready(first, count, number, values)) return;
    }
    await_ll_values<Packets, Batch>(ll_waiter_of(ctx), from, first, count, number);
  }
}

// ---- places that the proxy writes: the data, followed by the number as a signal ----

[[nodiscard]] PGAS_FN signal_t* ll_signal(vec16* place) { return reinterpret_cast<signal_t*>(place) + 1; }
/// The location of the data in a place that the proxy writes: before the signal, or entirely in the second packet.
template <std::uint32_t Packets>
[[nodiscard]] PGAS_FN packet_data* ll_data(vec16* place) {
  return reinterpret_cast<packet_data*>(place + (Packets - 1) * packets_in_line);
}

/// Sends a value through the proxy. @param place the place on the other PE, by its address on this PE @param pe number
/// of the other PE in the world
template <std::uint32_t Packets>
PGAS_COLD void send_ll_proxied(proxy_queue queue, std::int32_t pe, vec16* place, std::uint32_t number,
                               ll_value<Packets> value) {
  const op_info about{operation::send, pe, queue.offset(ll_data<Packets>(place))};
  const trailing_signal arrived{ll_signal(place), number, signal_op::set};
  bool lost = false;
  if constexpr (Packets == 1) {
    lost = !submit_signal(queue, about, command_kind::put_value_signal, value.word[0], sizeof value, arrived,
                          completion::submitted);
  } else {
    lost = !put_inline_value(queue, about, {{value.word[0], value.word[1]}}, sizeof value) ||
           !submit_signal(queue, about, command_kind::signal, 0, 0, arrived, completion::submitted);
  }
  if (lost) end_thread();
}

/// Waits for a value from the proxy. @param pe number of the other PE in the world
template <std::uint32_t Packets>
[[nodiscard]] PGAS_COLD ll_value<Packets> receive_ll_proxied(ll_waiter who, std::int32_t pe, vec16* place,
                                                             std::uint32_t number) {
  const signal_t* const arrived = ll_signal(place);
  signal_t seen = 0;
  const failure why = poll_until(
      who.control,
      [&] {
        seen = load_relaxed(arrived);
        return seen == number;
      },
      [&](wait_state now) { report_receive(who, now, pe, arrived, signal_t{number}, seen); });
  if (why != failure::none) end_thread();
  fence_acquire();
  ll_value<Packets> value;
  PGAS_UNROLL
  for (std::uint32_t p = 0; p < Packets; ++p) value.word[p] = load_relaxed(ll_data<Packets>(place) + p);
  return value;
}

// ---- messages of an ll_channel with checks on, or with a proxied PE ----

/// Sends message `now.sent`. @param place the place on the other PE, by its address on this PE @param remote the
/// load/store accessible address of the place; null if there is none
template <std::uint32_t Packets>
PGAS_COLD void send_ll_slow(const context* copy, std::int32_t pe, ll_progress now, vec16* place, vec16* remote,
                            ll_value<Packets> value) {
  check_turn(ll_waiter_of(*copy), operation::send, pe, now.sent, now.received);
  if (remote == nullptr)
    send_ll_proxied(proxy_queue_of(*copy), pe, place, now.sent, value);
  else
    send_ll_value(remote, now.sent, value);
}

/// Receives message `now.received`. @param proxied whether the proxy delivers the message
template <std::uint32_t Packets>
[[nodiscard]] PGAS_COLD ll_value<Packets> receive_ll_slow(const context* copy, std::int32_t pe, ll_progress now,
                                                          vec16* place, bool proxied) {
  const ll_waiter who = ll_waiter_of(*copy);
  check_turn(who, operation::receive, pe, now.received, now.sent);
  if (proxied) return receive_ll_proxied<Packets>(who, pe, place, now.received);
  ll_value<Packets> value[1];
  do await_ll_values<Packets, 1>(who, {nullptr, pe, 0}, place, 1, now.received);
  while (!ll_values_ready(place, 1, now.received, value));
  return value[0];
}

}  // namespace pgas::detail
