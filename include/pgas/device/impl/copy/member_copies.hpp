/// @file
/// The copies of collectives: puts to every member's destination, and the large broadcast by gets. Used by
/// `device/collective.hpp`. The algorithms: all-gather and all-to-all by direct stores; pull broadcast.
#pragma once

#include "pgas/device/impl/copy/strided_copy.hpp"
#include "pgas/device/impl/hierarchy/hierarchical_collective.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/collective_argument_check.hpp"

namespace pgas::detail {

/// Puts `count` elements at `dst` of a member. If the member is proxied, the barrier that ends the collective completes
/// the put.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_to_member(const context& ctx, const G& g, T* dst, const T* src, std::size_t count,
                           std::int32_t world_pe) {
  ctx.by_world_route(
      dst, world_pe, [&](T* remote) { copy<direction::put>(g, remote, src, count); },
      [&](std::int32_t proxied_pe) {
        const proxied_copy call{proxy_queue_of(ctx), proxied_pe, dst, src, count * sizeof(T), completion::submitted};
        proxied_put(&call, g);
      });
}

/// Like put_to_member(), for elements with a stride.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_strided_to_member(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                   std::ptrdiff_t src_stride, std::size_t count, std::int32_t world_pe) {
  ctx.by_world_route(
      dst, world_pe, [&](T* remote) { copy_spaced<direction::put>(g, remote, src, dst_stride, src_stride, count); },
      [&](std::int32_t proxied_pe) {
        proxied_strided<direction::put>(proxy_queue_of(ctx), g, proxied_pe, dst, src,
                                        strided_range_of<T>(1, count, src_stride, dst_stride), completion::submitted);
      });
}

/// Calls f(member) once for each member, including this PE. Half of a group's warps begin with this PE, and the other
/// warps end with this PE, so the local copy and the transfers overlap. (With proxied members the group acts as a unit,
/// and this PE comes last.) The other members follow in cyclic order, so that not all PEs store to the same member at
/// the same time.
template <PGAS_IS(group) G, class F>
PGAS_FN void for_each_member(const context& ctx, const G& g, const team_view& team, F f) {
  const std::int32_t n = team.n_pes();
  const bool own_first = !may_span_domains(ctx, team) && (g.thread_rank() / warp_size) % 2 != 0;
  for (std::int32_t k = own_first ? -1 : 0, end = k + n; k < end; ++k) f(other_member(team, k));
}

/// Puts `count` elements at `dst` of every member.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_to_all(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                        std::size_t count) {
  for_each_member(ctx, g, team, [&](std::int32_t member) {
    if (member != team.my_pe() || dst != src) put_to_member(ctx, g, dst, src, count, team.world_pe(member));
  });
}

/// Calls sync_unless_lockstep(), then put(to, from, world PE) once for each member: `from` is the block of this PE's
/// source for the member. `to` is the address, on this PE, of this PE's block in the member's destination.
/// @param dst_block, src_block elements from one block to the next
template <class T, PGAS_IS(group) G, class Put>
PGAS_FN void for_each_block(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::ptrdiff_t dst_block, std::ptrdiff_t src_block, Put put) {
  sync_unless_lockstep(g);
  for_each_member(ctx, g, team, [&](std::int32_t member) {
    put(dst + team.my_pe() * dst_block, src + member * src_block, team.world_pe(member));
  });
}

/// Sends this PE's `value` to all members, calls a barrier, and returns the sum of the values of the members before
/// this member.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::uint64_t sum_before(const context& ctx, const G& g, const team_view& team,
                                               std::uint64_t value, operation what) {
  const auto size = static_cast<std::int32_t>(g.size());
  std::uint64_t* const mine = value_word(ctx, team, team.my_pe());
  for (auto i = static_cast<std::int32_t>(g.thread_rank()); i < team.n_pes(); i += size)
    store_at_member(ctx, mine, value, team.world_pe(i), what);
  collective_barrier(ctx, g, team, what);
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < team.my_pe(); ++i) sum += load_relaxed(value_word(ctx, team, i));
  return sum;
}

/// Whether receivers pull a broadcast. A block stores about 45 GB/s, so a root that stores to all members would be the
/// bottleneck. In a collective that the host calls, many blocks together use the full bandwidth of the link, so
/// receivers do not pull. The result is the same on all members.
[[nodiscard]] PGAS_FN bool fetches_broadcast(const context& ctx, const team_view& team, std::size_t bytes) {
  constexpr std::size_t least_pulled_bytes = std::size_t{128} << 10;
  return static_cast<std::size_t>(team.n_pes() - 1) * bytes >= least_pulled_bytes &&
         team.channel_ != team.n_channels() && !may_span_domains(ctx, team);
}

/// A pull broadcast without its last barrier. The root sends the offset of its source. If the source is outside the
/// heap, the root stores the elements to all members instead.
template <class T, PGAS_IS(group) G>
PGAS_FN void fetch_broadcast(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                             std::size_t count, std::int32_t root) {
  constexpr auto what = operation::broadcast;
  const std::uint64_t offset = ctx.offset(src);
  const bool everywhere = offset < std::uint64_t{1} << (ctx.log2_stride_ - 1);  // whether `src` is symmetric memory
  std::uint64_t* const place = value_word(ctx, team, root);
  if (team.my_pe() == root) {
    const auto size = static_cast<std::int32_t>(g.size());
    for (auto i = static_cast<std::int32_t>(g.thread_rank()); i < team.n_pes(); i += size)
      store_at_member(ctx, place, everywhere ? offset + 1 : 0, team.world_pe(i), what);
  }
  collective_barrier(ctx, g, team, what);
  if (team.my_pe() == root) {
    if (!everywhere) {
      put_to_all(ctx, g, team, dst, src, count);
    } else if (dst != src) {
      copy<direction::put>(g, dst, src, count);
    }
  } else if (const std::uint64_t announced = load_relaxed(place); announced != 0) {
    const auto* const from = reinterpret_cast<const T*>(ctx.my_slot_ + (announced - 1));
    copy<direction::get>(g, dst, ctx.world_remote(from, team.world_pe(root)), count);
  }
}

}  // namespace pgas::detail
