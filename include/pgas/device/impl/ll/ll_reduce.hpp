/// @file
/// The all-reduce of few elements: every member sends its elements to all others as LL packets and reduces the elements
/// of all members in the order of the members. In a kernel that the host enqueues, each block reduces independently.
/// Used by `reduce/all_reduce_algorithm.hpp`. The algorithm is the LL one-shot all-reduce, "AGxLL_R" in NCCL's
/// src/device/symmetric/all_reduce.cuh.
///
/// All members reduce the same operands in the order of `reduce_loop.hpp`. The result therefore has the same bits on
/// all members, and the same bits as with the other algorithms.
#pragma once

#include "pgas/device/impl/ll/ll_exchange.hpp"
#include "pgas/device/impl/reduce/lockstep_blocks.hpp"

namespace pgas::detail {

/// Whether elements of type T can be exchanged in packets: the type must have no padding. Each member computes the
/// result itself, so padding bytes would have different values on different members.
template <class T>
inline constexpr bool ll_reducible = 16 % sizeof(T) == 0 && (arithmetic<T> || __has_unique_object_representations(T));

/// Reduces unit `u` of all members' messages in order: three of the other members at a time, and this PE's own unit at
/// its position.
template <class T, class Op>
[[nodiscard]] PGAS_FN failure ll_reduce_unit(const Op& op, const ll_epoch& now, const vec16& own, std::uint32_t u,
                                             vec16& result) {
  using A = accumulator_of<Op, T>;
  using access = word_access<T>;
  constexpr std::int32_t others = 3;
  lanes<A, access::width> sum{};
  if (now.members == 2) {  // a batch of three polls would load the packets of the only other member three times
    const vec16* const at[1] = {now.packet(now.other(1), u)};
    vec16 in[1];
    const failure why = await_ll_units(now, at, in);
    if (why != failure::none) PGAS_UNLIKELY
      return why;
    reduce_lanes<access, T>(op, sum, now.me == 0 ? own : in[0], true);
    reduce_lanes<access, T>(op, sum, now.me == 0 ? in[0] : own, false);
    result = reduced<access, T>(sum);
    return failure::none;
  }
  for (std::int32_t base = 0; base < now.members;) {
    const bool with_own = now.me >= base && now.me <= base + others;
    const vec16* at[others];
    PGAS_UNROLL
    for (std::int32_t b = 0; b < others; ++b) {
      const std::int32_t member = base + b + (with_own && base + b >= now.me ? 1 : 0);
      // an additional load is cheaper than a branch
      at[b] = now.packet(member < now.members ? member : now.other(1), u);
    }
    vec16 in[others];
    const failure why = await_ll_units(now, at, in);
    if (why != failure::none) PGAS_UNLIKELY
      return why;
    const std::int32_t end = base + others + (with_own ? 1 : 0);
    PGAS_UNROLL
    for (std::int32_t k = 0; k <= others; ++k) {
      const std::int32_t member = base + k;
      if (member >= end || member >= now.members) break;
      vec16 next = in[k < others ? k : others - 1];
      if (k > 0 && with_own && member > now.me) next = in[k - 1];
      if (member == now.me) next = own;
      reduce_lanes<access, T>(op, sum, next, member == 0);
    }
    base = end;
  }
  result = reduced<access, T>(sum);
  return failure::none;
}

/// One thread's share of an all-reduce of `count` elements. Source and destination may be the same, because each thread
/// reads the elements that it later writes. The function is out of line, as reduce_elements() is.
template <class T, class Op>
PGAS_OUTLINE ll_result ll_reduce_slice(Op op, ll_epoch now, std::byte* dst, const std::byte* src, std::uint32_t count,
                                       slice me) {
  constexpr std::uint32_t width = 16 / sizeof(T);
  now.load_epoch();
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const vec16 own = load_elements<T>(src + std::size_t{u} * 16, count - u * width);
    for (std::int32_t i = 1; i < now.members; ++i) send_ll_unit(now, now.other(i), u, own);
  }
  for (std::uint32_t u = me.rank; u < now.units; u += me.size) {
    const std::uint32_t left = count - u * width;
    const vec16 own = load_elements<T>(src + std::size_t{u} * 16, left);
    vec16 result;
    const failure why = ll_reduce_unit<T>(op, now, own, u, result);
    if (why != failure::none) PGAS_UNLIKELY
      return {why, u, -1, now.epoch};
    store_elements<T>(dst + std::size_t{u} * 16, result, left);
  }
  return {failure::none, 0, -1, now.epoch};
}

/// An all-reduce in LL packets. Either fits_ll() must be true, or, for a single block, fits_block_packets() must be
/// true.
template <class T, class Op, PGAS_IS(group) G, class Team>
PGAS_FN void ll_reduce(const context& ctx, const G& g, const Team& team, T* dst, const T* src, std::size_t count,
                       const Op& op) {
  ll_exchange(ctx, g, team, ll_units(count * sizeof(T)), operation::reduce, [&](const ll_epoch& now) {
    return ll_reduce_slice<T>(op, now, reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src),
                              static_cast<std::uint32_t>(count), slice_of(g));
  });
}

/// Whether a reduction by a grid of lockstep blocks fits into the packets of each block, as ll_reduce_by_blocks()
/// requires. The result is equal on all members. @param all block_partition()
template <class T>
[[nodiscard]] PGAS_FN bool fits_block_packets(const context& ctx, const team_view& team, const partition& all) {
  return has_oneshot_staging(team) && all.count != 0 &&
         fits_packets(ctx, team.of_block(0), ll_units(all.each * sizeof(T)));
}

/// An all-reduce in which each block independently exchanges its elements with the same block of the other members.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void ll_reduce_by_blocks(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                                 const partition& all, const Op& op) {
  const auto block = g.part();
  const auto which = static_cast<std::int32_t>(block.block_rank());
  const std::size_t begin = all.start(which);
  const std::size_t n = all.start(which + 1) - begin;
  if (n != 0) ll_reduce(ctx, block, block_view(team, block.block_rank()), dst + begin, src + begin, n, op);
}

}  // namespace pgas::detail
