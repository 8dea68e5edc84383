/// @file
/// Collectives that move few bytes, by packets: what a member gets it takes out of them and stores itself.
#pragma once

#include "pgas/device/impl/ll/ll_exchange.hpp"

namespace pgas::detail {

/// Messages of collectives that move data have so many units at most. Longer ones go straight to where they belong: a
/// second copy of them costs more than a fence, above all where one thread makes it.
inline constexpr std::uint64_t copied_units = 128;

[[nodiscard]] PGAS_FN bool copies_by_packets(const context& ctx, const team_view& team, std::uint64_t bytes) {
  return units_of(bytes) <= copied_units && goes_by_packets(ctx, team, units_of(bytes));
}

/// Messages of an fcollect() or alltoall(): block `i` of `dst` is what member i has for this one.
struct block_exchange {
  std::byte* dst;
  const std::byte* src;
  std::uint32_t bytes;     ///< of a block
  std::uint32_t src_step;  ///< from one member's block to the next; 0 if all get the same
};

/// One thread's share of it.
template <class Piece>
PGAS_OUTLINE packet_end exchange_blocks(packet_round now, block_exchange call, share me) {
  const std::uint32_t pieces = call.bytes / static_cast<std::uint32_t>(sizeof(Piece));
  constexpr std::uint32_t width = 16 / sizeof(Piece);
  now.ask_number();
  const auto source = [&](std::int32_t member) { return call.src + static_cast<std::size_t>(member) * call.src_step; };
  const auto target = [&](std::int32_t member) { return call.dst + static_cast<std::size_t>(member) * call.bytes; };
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const std::size_t at = std::size_t{u} * 16;
    for (std::int32_t i = 1; i < now.members; ++i) {
      const std::int32_t member = now.other(i);
      send_unit(now, member, u, load_elements<Piece>(source(member) + at, pieces - u * width));
    }
    if (source(now.me) != target(now.me)) {
      const vec16 own = load_elements<Piece>(source(now.me) + at, pieces - u * width);
      store_elements<Piece>(target(now.me) + at, own, pieces - u * width);
    }
  }
  // The others' units, several at a time whosever they are.
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
    const failure why = await_units(now, at, in);
    if (why != failure::none) PGAS_UNLIKELY
      return {why, unit[0], -1, now.number};
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < batch; ++b) {
      if (first + b * me.size < all)
        store_elements<Piece>(target(from[b]) + std::size_t{unit[b]} * 16, in[b], pieces - unit[b] * width);
    }
  }
  return {failure::none, 0, -1, now.number};
}

/// An fcollect() or alltoall() for which copies_by_packets() holds. @param src_step elements
template <class T, PGAS_IS(group) G>
PGAS_FN void exchange_by_packets(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                                 std::size_t count, std::size_t src_step, operation what) {
  const block_exchange call{reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src),
                            static_cast<std::uint32_t>(count * sizeof(T)),
                            static_cast<std::uint32_t>(src_step * sizeof(T))};
  exchange_packets(ctx, g, team, units_of(call.bytes), what,
                   [&](const packet_round& now) { return exchange_blocks<packed_piece<T>>(now, call, share_of(g)); });
}

/// One thread's share of a broadcast(). Members other than the root send a packet that holds nothing, as an exchange
/// asks for.
template <class Piece>
PGAS_OUTLINE packet_end broadcast_packets(packet_round now, std::byte* dst, const std::byte* src, std::uint32_t bytes,
                                          std::int32_t root, share me) {
  const std::uint32_t pieces = bytes / static_cast<std::uint32_t>(sizeof(Piece));
  constexpr std::uint32_t width = 16 / sizeof(Piece);
  now.ask_number();
  const auto first = static_cast<std::int32_t>(me.rank);
  const auto step = static_cast<std::int32_t>(me.size);
  if (now.me != root) {
    for (std::int32_t i = 1 + first; i < now.members; i += step) {
      const std::int32_t member = now.other(i);
      store_relaxed(now.to.at(now.packet(now.me, 0), member), vec16{{0, now.number, 0, now.number}});
    }
  }
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const std::size_t at = std::size_t{u} * 16;
    vec16 data[1];
    if (now.me == root) {
      data[0] = load_elements<Piece>(src + at, pieces - u * width);
      for (std::int32_t i = 1; i < now.members; ++i) send_unit(now, now.other(i), u, data[0]);
    } else {
      const vec16* const packet[1] = {now.packet(root, u)};
      const failure why = await_units(now, packet, data);
      if (why != failure::none) PGAS_UNLIKELY
        return {why, u, root, now.number};
    }
    if (now.me != root || dst != src) store_elements<Piece>(dst + at, data[0], pieces - u * width);
  }
  for (std::int32_t i = 1 + first; i < now.members; i += step) {
    const std::int32_t member = now.other(i);
    if (member == root) continue;
    const vec16* const packet = now.packet(member, 0);
    const failure why = poll_until(now.control, [&] {
      const vec16 seen = load_relaxed(packet);
      return seen.w[1] == now.number && seen.w[3] == now.number;
    });
    if (why != failure::none) PGAS_UNLIKELY
      return {why, 0, member, now.number};
  }
  return {failure::none, 0, -1, now.number};
}

/// A broadcast() for which copies_by_packets() holds.
template <class T, PGAS_IS(group) G>
PGAS_FN void broadcast_by_packets(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                                  std::size_t count, std::int32_t root) {
  const auto bytes = static_cast<std::uint32_t>(count * sizeof(T));
  exchange_packets(ctx, g, team, units_of(bytes), operation::broadcast, [&](const packet_round& now) {
    return broadcast_packets<packed_piece<T>>(now, reinterpret_cast<std::byte*>(dst),
                                              reinterpret_cast<const std::byte*>(src), bytes, root, share_of(g));
  });
}

}  // namespace pgas::detail
