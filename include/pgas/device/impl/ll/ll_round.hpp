/// @file
/// Rounds of an ll_team_channel: how a round begins, and how its values are received and combined. Used by
/// `device/ll_channel.hpp`; the template parameter Channel is the class of that header.
#pragma once

#include "pgas/device/impl/ll/ll_value.hpp"
#include "pgas/device/impl/sync/collective_argument_check.hpp"

namespace pgas::detail {

// ---- with checks on, a channel with counted rounds records in its box which messages of the last round were received
// ----

/// The location of the record of received messages: the line in which channels without counted rounds store their
/// progress. In this line, `received` is the number of other members whose message the thread has not received. In the
/// next word, bit i modulo 64 is set after the thread has received from member i.
[[nodiscard]] PGAS_FN std::uint64_t* received_members(vec16* places) {
  return reinterpret_cast<std::uint64_t*>(places - packets_in_line) + 1;
}

/// Ends the thread because a round begins before the last round has been received.
PGAS_FN void refuse_round(ll_waiter who, vec16* places, std::uint32_t round, ll_progress last, ll_senders from,
                          std::int32_t members, std::int32_t me) {
  const std::uint64_t received = load_relaxed(received_members(places));
  std::int32_t pe = -1;  // stays -1 if all bits are set: in teams of more than 64 members, members share bits
  PGAS_ROLLED
  for (std::int32_t member = 0; member < members; ++member) {
    const bool has_come = (received >> (member % 64) & 1) != 0;
    if (member != me && !has_come && pe < 0) pe = from.world_pe(static_cast<std::uint32_t>(member));
  }
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(places - packets_in_line) - who.my_slot;
  failure_record found = bad_argument(failure::not_received, operation::send, pe, offset, last.received);
  found.expected = round;
  found.seen = last.sent;
  leave_record(who.control, who.my_slot, found);
  end_thread();
}

/// Begins the thread's next round. @param from, members, me describe the team
PGAS_COLD void begin_counted_round(ll_waiter who, vec16* places, std::uint32_t round, ll_senders from,
                                   std::int32_t members, std::int32_t me) {
  const ll_progress last = load_progress(places);
  if (last.received != 0) refuse_round(who, places, round, last, from, members, me);
  store_progress(places, {round, static_cast<std::uint32_t>(members - 1)});
  store_relaxed(received_members(places), std::uint64_t{0});
}

/// Records that the thread has received from member `from` in a round.
PGAS_COLD void note_received(vec16* places, std::uint32_t round, std::int32_t from, std::int32_t members) {
  const ll_progress last = load_progress(places);
  const std::uint64_t before = load_relaxed(received_members(places));
  const std::uint64_t member = std::uint64_t{1} << (from % 64);
  const bool again = members <= 64 && (before & member) != 0;
  if (last.sent != round || last.received == 0 || again) return;
  store_progress(places, {round, last.received - 1});
  store_relaxed(received_members(places), before | member);
}

/// Records that the thread has received from all members in a round.
PGAS_COLD void note_round_received(vec16* places, std::uint32_t round) {
  if (load_progress(places).sent == round) store_progress(places, {round, 0});
}

/// The number of rounds that have begun on a channel, as the program counts them (ll_rounds::begun).
template <class Channel>
[[nodiscard]] PGAS_FN std::uint32_t round_of(const Channel& channel) {
  return channel.now_.sent - 1;
}

/// Whether the program counts the rounds of a channel and checks are on.
template <class Channel>
[[nodiscard]] PGAS_FN bool is_checked(const context& ctx, const Channel& channel) {
  return channel.is_counted_ && ctx.checks();
}

// ---- rounds ----

/// Waits for those messages of a round that the thread has not requested. The function does not wait for this PE's own
/// message. No other thread reads the place of that message, so the message may be overwritten.
template <class Channel>
PGAS_FN void finish_round(const context& ctx, const Channel& channel) {
  for (std::int32_t from = 0; from < channel.team_.n_pes(); ++from) {
    if (from != channel.team_.my_pe()) static_cast<void>(channel.await(ctx, from));
  }
  if (is_checked(ctx, channel)) PGAS_UNLIKELY
    note_round_received(channel.places_, round_of(channel));
}

/// Begins a round and sends `value_for(member)` to each member, and to this PE if the channel requires it.
template <class Channel, class F>
PGAS_FN void send_round(const context& ctx, Channel& channel, const F& value_for) {
  using T = typename Channel::value_type;
  if (channel.now_.received != 0) PGAS_UNLIKELY
    finish_round(ctx, channel);
  if (is_checked(ctx, channel)) PGAS_UNLIKELY {
    begin_counted_round(ll_waiter_of(ctx), channel.places_, round_of(channel) + 1, channel.senders(0),
                        channel.team_.n_pes(), channel.team_.my_pe());
  }
  const std::uint32_t number = ++channel.now_.sent;
  const std::int32_t members = channel.team_.n_pes();
  const std::int32_t count = Channel::to_others ? members - 1 : members;
  channel.now_.received = static_cast<std::uint32_t>(count);
  const proxy_queue queue = proxy_queue_of(ctx);
  vec16* const place = channel.place(channel.team_.my_pe());
  std::int32_t member = channel.team_.my_pe();
  PGAS_ROLLED
  for (std::int32_t i = 0; i < count; ++i) {
    member = member + 1 < members ? member + 1 : 0;
    const ll_value_of<T> data = to_ll<T>(value_for(member));
    ctx.by_world_route(
        place, channel.team_.world_pe(member), [=](vec16* remote) { send_ll_value(remote, number, data); },
        [=](std::int32_t pe) { send_ll_proxied(queue, pe, place, number, data); });
  }
}

/// Waits for the value of member `from`.
template <class Channel>
[[nodiscard]] PGAS_FN typename Channel::value_type receive_of_round(const context& ctx, Channel& channel,
                                                                    std::int32_t from) {
  if (ctx.checks()) PGAS_UNLIKELY
    check_root(ctx.copy_, channel.team_, operation::receive, from);
  --channel.now_.received;
  const auto data = channel.await(ctx, from);
  if (is_checked(ctx, channel) && from != channel.team_.my_pe()) PGAS_UNLIKELY
    note_received(channel.places_, round_of(channel), from, channel.team_.n_pes());
  return from_ll<typename Channel::value_type>(data);
}

/// Waits for the values of all members, several at the same time, and calls f(member, value) for each in the order of
/// the members. @param own this PE's value; null: the value is awaited as a message
template <class Channel, class F>
PGAS_FN void receive_round(const context& ctx, Channel& channel, const typename Channel::value_type* own, const F& f) {
  using T = typename Channel::value_type;
  constexpr std::uint32_t batch = 4 / packets_of_value<T>;
  const std::int32_t most = ctx.has_proxied() ? 1 : std::int32_t{batch};
  const std::int32_t members = channel.team_.n_pes();
  const std::int32_t given = own != nullptr ? channel.team_.my_pe() : -1;
  std::int32_t first = 0;
  PGAS_ROLLED
  while (first < members) {
    if (first == given) {
      f(first++, *own);
      continue;
    }
    const std::int32_t end = first < given ? given : members;
    const std::int32_t count = end - first < most ? end - first : most;
    if (count == 1) {  // for one member, a batch of polls would load the same place several times
      f(first, from_ll<T>(channel.await(ctx, first)));
    } else {
      ll_value_of<T> data[batch]{};
      receive_ll_values(ctx, channel.senders(first), channel.place(first), static_cast<std::uint32_t>(count),
                        channel.now_.sent, data);
      PGAS_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const auto i = static_cast<std::int32_t>(b);
        if (i >= count) break;
        f(first + i, from_ll<T>(data[b]));
      }
    }
    first += count;
  }
  channel.now_.received = 0;
  if (is_checked(ctx, channel)) PGAS_UNLIKELY
    note_round_received(channel.places_, round_of(channel));
}

/// The values of a round, combined in the order in which they are added.
template <class T, class Op>
struct ll_sum {
  using accumulator = accumulator_of<Op, T>;

  const Op& op;
  lanes<accumulator, 1> sum{};

  PGAS_FN void add(std::int32_t member, const T& value) {
    const lanes<accumulator, 1> next{{accumulated<T, accumulator>(bits_as<stored_as<T, accumulator>>(value))}};
    if (member == 0)
      sum = next;
    else
      combine(op, sum, next);
  }
  [[nodiscard]] PGAS_FN T value() const { return bits_as<T>(stored<T, accumulator>(sum.at[0])); }
};

}  // namespace pgas::detail
