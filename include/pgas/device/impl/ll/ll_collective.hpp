/// @file
/// broadcast(), fcollect() and alltoall() of small messages as LL exchanges: each member stores the data of the packets
/// that it receives. Used by `collective.hpp`. The algorithms are LL all-gather and LL all-to-all; `ll_packet.hpp`
/// describes the protocol.
#pragma once

#include "pgas/device/impl/ll/ll_exchange.hpp"

namespace pgas::detail {

/// The maximum number of units in a message of a collective that moves data. Longer messages are stored directly at
/// their destination: copying the data out of the packets would cost more than a fence, especially if a single thread
/// copies.
inline constexpr std::uint64_t most_ll_copy_units = 128;

[[nodiscard]] PGAS_FN bool fits_ll_copy(const context& ctx, const team_view& team, std::uint64_t bytes) {
  return ll_units(bytes) <= most_ll_copy_units && fits_ll(ctx, team, ll_units(bytes));
}

/// Messages of an fcollect() or alltoall(): block `i` of `dst` comes from member i.
struct block_exchange {
  std::byte* dst;
  const std::byte* src;
  std::uint32_t bytes;     ///< bytes of a block
  std::uint32_t src_step;  ///< bytes from one member's block to the next; 0 if all members get the same block
};

/// One thread's share of the exchange.
template <class Element>
PGAS_OUTLINE ll_result ll_exchange_slice(ll_epoch now, block_exchange call, slice me) {
  const std::uint32_t elements = call.bytes / static_cast<std::uint32_t>(sizeof(Element));
  constexpr std::uint32_t width = 16 / sizeof(Element);
  now.load_epoch();
  const auto source = [&](std::int32_t member) { return call.src + static_cast<std::size_t>(member) * call.src_step; };
  const auto target = [&](std::int32_t member) { return call.dst + static_cast<std::size_t>(member) * call.bytes; };
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const std::size_t at = std::size_t{u} * 16;
    for (std::int32_t i = 1; i < now.members; ++i) {
      const std::int32_t member = now.other(i);
      send_ll_unit(now, member, u, load_elements<Element>(source(member) + at, elements - u * width));
    }
    if (source(now.me) != target(now.me)) {
      const vec16 own = load_elements<Element>(source(now.me) + at, elements - u * width);
      store_elements<Element>(target(now.me) + at, own, elements - u * width);
    }
  }
  // Receives units of the other members, several at a time and in any order.
  constexpr std::uint32_t batch = 3;
  const std::uint32_t all = static_cast<std::uint32_t>(now.members - 1) * now.units;
  for (std::uint32_t first = me.rank; first < all; first += batch * me.size) {
    std::uint32_t unit[batch];
    std::int32_t from[batch];
    const vec16* at[batch];
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < batch; ++b) {
      const std::uint32_t k = first + b * me.size < all ? first + b * me.size : first;
      from[b] = now.other(1 + static_cast<std::int32_t>(k / now.units));
      unit[b] = k % now.units;
      at[b] = now.packet(from[b], unit[b]);
    }
    vec16 in[batch];
    const failure why = await_ll_units(now, at, in);
    if (why != failure::none) PGAS_UNLIKELY
      return {why, unit[0], -1, now.epoch};
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < batch; ++b) {
      if (first + b * me.size < all)
        store_elements<Element>(target(from[b]) + std::size_t{unit[b]} * 16, in[b], elements - unit[b] * width);
    }
  }
  return {failure::none, 0, -1, now.epoch};
}

/// An fcollect() or alltoall() with a message that fits_ll_copy(). @param src_step elements from one member's block of
/// `src` to the next
template <class T, PGAS_IS(group) G>
PGAS_FN void ll_exchange_blocks(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                                std::size_t count, std::size_t src_step, operation what) {
  const block_exchange call{reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src),
                            static_cast<std::uint32_t>(count * sizeof(T)),
                            static_cast<std::uint32_t>(src_step * sizeof(T))};
  ll_exchange(ctx, g, team, ll_units(call.bytes), what,
              [&](const ll_epoch& now) { return ll_exchange_slice<ll_piece<T>>(now, call, slice_of(g)); });
}

/// One thread's share of a broadcast(). Members other than the root send an empty packet, because an exchange requires
/// a packet from each member.
template <class Element>
PGAS_OUTLINE ll_result ll_broadcast_slice(ll_epoch now, std::byte* dst, const std::byte* src, std::uint32_t bytes,
                                          std::int32_t root, slice me) {
  const std::uint32_t elements = bytes / static_cast<std::uint32_t>(sizeof(Element));
  constexpr std::uint32_t width = 16 / sizeof(Element);
  now.load_epoch();
  const auto first = static_cast<std::int32_t>(me.rank);
  const auto step = static_cast<std::int32_t>(me.size);
  if (now.me != root) {
    for (std::int32_t i = 1 + first; i < now.members; i += step) {
      const std::int32_t member = now.other(i);
      store_relaxed(now.peers.at(now.packet(now.me, 0), member), vec16{{0, now.epoch, 0, now.epoch}});
    }
  }
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const std::size_t at = std::size_t{u} * 16;
    vec16 data[1];
    if (now.me == root) {
      data[0] = load_elements<Element>(src + at, elements - u * width);
      for (std::int32_t i = 1; i < now.members; ++i) send_ll_unit(now, now.other(i), u, data[0]);
    } else {
      const vec16* const packet[1] = {now.packet(root, u)};
      const failure why = await_ll_units(now, packet, data);
      if (why != failure::none) PGAS_UNLIKELY
        return {why, u, root, now.epoch};
    }
    if (now.me != root || dst != src) store_elements<Element>(dst + at, data[0], elements - u * width);
  }
  for (std::int32_t i = 1 + first; i < now.members; i += step) {
    const std::int32_t member = now.other(i);
    if (member == root) continue;
    const vec16* const packet = now.packet(member, 0);
    const failure why = poll_until(
        now.control,
        [&] {
          const vec16 seen = load_relaxed(packet);
          return seen.w[1] == now.epoch && seen.w[3] == now.epoch;
        },
        [&](wait_state wait) { answer_for_packet(now.control, packet, now.units, now.epoch, wait); });
    if (why != failure::none) PGAS_UNLIKELY
      return {why, 0, member, now.epoch};
  }
  return {failure::none, 0, -1, now.epoch};
}

/// A broadcast() with a message that fits_ll_copy().
template <class T, PGAS_IS(group) G>
PGAS_FN void ll_broadcast(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                          std::size_t count, std::int32_t root) {
  const auto bytes = static_cast<std::uint32_t>(count * sizeof(T));
  ll_exchange(ctx, g, team, ll_units(bytes), operation::broadcast, [&](const ll_epoch& now) {
    return ll_broadcast_slice<ll_piece<T>>(now, reinterpret_cast<std::byte*>(dst),
                                           reinterpret_cast<const std::byte*>(src), bytes, root, slice_of(g));
  });
}

}  // namespace pgas::detail
