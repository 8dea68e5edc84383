/// @file
/// Rounds of an ll_team_channel: how one begins, and how its values are received and combined. Used by
/// `device/ll_channel.hpp`, whose class these functions know as Channel.
#pragma once

#include "pgas/device/impl/ll/ll_value.hpp"

namespace pgas::detail {

/// Waits for the messages of a round that nobody has asked for. This PE's own is not waited for: nobody else reads its
/// place, so it may be overwritten.
template <class Channel>
PGAS_FN void finish_round(const context& ctx, const Channel& channel) {
  for (std::int32_t from = 0; from < channel.team_.n_pes(); ++from) {
    if (from != channel.team_.my_pe()) static_cast<void>(channel.await(ctx, from));
  }
}

/// Begins a round, and sends `value_for(member)` to each of the `count` members that follow this PE.
template <class Channel, class F>
PGAS_FN void send_round(const context& ctx, Channel& channel, std::int32_t count, const F& value_for) {
  using T = typename Channel::value_type;
  if (channel.now_.received != 0) PGAS_UNLIKELY
    finish_round(ctx, channel);
  const std::uint32_t number = ++channel.now_.sent;
  const std::int32_t members = channel.team_.n_pes();
  channel.now_.received = static_cast<std::uint32_t>(count);
  const proxy_queue queue = proxy_queue_of(ctx);
  vec16* const place = channel.place(channel.team_.my_pe());
  std::int32_t member = channel.team_.my_pe();
  PGAS_ROLLED
  for (std::int32_t i = 0; i < count; ++i) {
    member = member + 1 < members ? member + 1 : 0;
    const ll_value_of<T> data = to_ll<T>(value_for(member));
    ctx.by_world_route(
        place, channel.team_.world_pe(member), [=](vec16* there) { send_ll_value(there, number, data); },
        [=](std::int32_t pe) { send_ll_proxied(queue, pe, place, number, data); });
  }
}

/// Waits for the values of all members, several at once, and calls f(member, value) for each in turn. @param own this
/// PE's value, which is not waited for then, or null
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
    if (count == 1) {  // polls of several would be of the same place, and all threads poll
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
