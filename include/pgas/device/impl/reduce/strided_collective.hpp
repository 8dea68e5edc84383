/// @file
/// Collectives of blocks at regular distances, without their barriers: puts to all members, and reductions of all
/// members' blocks. Used by the tile collectives of `compat/nvshmem/tile.h`.
///
/// Each element is loaded once from each source and stored once at each target. Elements move in pieces of up to 16
/// bytes, as large as the alignment of addresses and distances allows. The threads share the pieces of all blocks
/// cyclically. Operands are combined in the order of the members, as in `reduce_loop.hpp`. For proxied members, each
/// piece is a separate command.
#pragma once

#include "pgas/device/impl/copy/strided_copy.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/reduce/reduce_loop.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// Blocks for all members of a team.
struct push_job {
  byte_blocks blocks;
  peer_map peers;
  std::int32_t members;
  std::int32_t me;
};

/// Copies one thread's share of the pieces. Each piece is loaded once and stored at all members. This PE is the last
/// target.
template <std::size_t Unit>
PGAS_OUTLINE void push_pieces(const push_job* job, std::size_t start, std::size_t part, slice thread) {
  constexpr std::uint32_t batch = Unit == 16 ? 2 : 4;
  const byte_blocks& all = job->blocks;
  for (piece_index<Unit> piece(part, thread); piece.inside(all.count);) {
    unit_word<Unit> v[batch] = {};
    std::byte* to[batch] = {};
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      if (piece.inside(all.count)) {
        v[i] = load_unit<space::any, Unit>(piece.in(all.src, start));
        to[i] = piece.in(all.dst, start);
      }
      piece.advance();
    }
    for (std::int32_t k = 1; k <= job->members; ++k) {
      const std::uintptr_t distance = job->peers.distance(member_behind(job->me, k, job->members));
      PGAS_UNROLL
      for (std::uint32_t i = 0; i < batch; ++i) {
        if (to[i] != nullptr) store_unit<space::heap, Unit>(to[i] + distance, v[i]);
      }
    }
  }
}
template <std::size_t Least>
PGAS_OUTLINE void push_by_largest_units(const push_job* job, slice thread) {
  by_largest_units<Least>(&job->blocks, [=](auto known, std::size_t start, std::size_t part) {
    push_pieces<decltype(known)::value>(job, start, part, thread);
  });
}

/// A push to all members, by the route to each member, direct or proxied. Visits the members one after another and
/// starts with the member `next` positions after this member.
struct routed_push {
  participant here;
  byte_blocks blocks;
  std::byte* dst;
  std::int32_t next;
};
template <std::size_t Least, PGAS_IS(group) G>
PGAS_COLD void push_by_route(routed_push* job, G g) {
  for (; job->next <= job->here.team.n_pes(); ++job->next) {
    const team_view& team = job->here.team;
    job->here.ctx.by_world_route(
        job->dst, team.world_pe(member_behind(team.my_pe(), job->next, team.n_pes())),
        [=](std::byte* remote) {
          job->blocks.dst.start = remote;
          copy_by_largest_units<direction::put, Least>(&job->blocks, slice_of(g));
        },
        [=](std::int32_t pe) {
          const byte_blocks& all = job->blocks;
          proxied_strided<direction::put>(proxy_queue_of(job->here.ctx), g, pe, job->dst, all.src.start,
                                          strided_range{all.bytes, all.count, all.src.step, all.dst.step},
                                          completion::submitted);
        });
  }
}

/// Puts blocks of T to all members of a team, including this PE. If all members are direct, puts one thread's share.
/// The barrier that ends the collective completes the puts.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_blocks_to_all(const context& ctx, const G& g, const team_view& team, const byte_blocks& blocks) {
  if (!all_direct(ctx, team)) PGAS_UNLIKELY {
    routed_push job{{ctx, team}, blocks, blocks.dst.start, 1};
    return push_by_route<unit_of<T>>(&job, g);
  }
  const push_job job{blocks, direct_peer_map(ctx, team), team.n_pes(), team.my_pe()};
  push_by_largest_units<unit_of<T>>(&job, slice_of(g));
}

/// The blocks of members 0 to `members` - 1 of a team, to be combined. The members from `first_target` to `end_target -
/// 1` receive the result.
struct strided_reduce_job {
  byte_blocks blocks;
  std::int32_t members;
  std::int32_t first_target;
  std::int32_t end_target;
  peer_map peers{};                   ///< used if all members are direct
  const participant* here = nullptr;  ///< used if some members are proxied
};

/// Loads a piece from a member: directly if all members are direct, otherwise by the member's route.
template <class Access, bool Direct>
[[nodiscard]] PGAS_FN typename Access::raw load_piece(const strided_reduce_job* job, const std::byte* p,
                                                      std::int32_t member) {
  if constexpr (Direct) {
    return Access::load(job->peers.at(p, member));
  } else {
    const context& ctx = job->here->ctx;
    return ctx.by_world_route(
        p, job->here->team.world_pe(member), [](const std::byte* remote) { return Access::load(remote); },
        [&](std::int32_t pe) { return proxied_g<typename Access::raw>(proxy_queue_of(ctx), pe, ctx.offset(p)); });
  }
}
template <class Access, bool Direct>
PGAS_FN void store_piece(const strided_reduce_job* job, std::byte* p, std::int32_t member,
                         const typename Access::raw& value) {
  if constexpr (Direct) {
    Access::store(job->peers.at(p, member), value);
  } else {
    const context& ctx = job->here->ctx;
    ctx.by_world_route(
        p, job->here->team.world_pe(member), [&](std::byte* remote) { Access::store(remote, value); },
        [&](std::int32_t pe) { proxied_p(proxy_queue_of(ctx), pe, ctx.offset(p), value); });
  }
}

/// One thread's share of a reduction of pieces of `Unit` bytes: loads of several members are in flight, and the values
/// are combined in order.
template <class T, std::size_t Unit, bool Direct, class Op>
PGAS_OUTLINE void reduce_pieces(Op op, const strided_reduce_job* job, std::size_t start, std::size_t part, slice me) {
  using A = accumulator_of<Op, T>;
  using access = word_access<T, Unit>;
  constexpr std::int32_t batch = Direct ? 4 : 1;
  const byte_blocks& all = job->blocks;
  for (piece_index<Unit> piece(part, me); piece.inside(all.count); piece.advance()) {
    lanes<A, access::width> sum{};
    const std::byte* const from = piece.in(all.src, start);
    PGAS_ROLLED
    for (std::int32_t base = 0; base < job->members; base += batch) {
      typename access::raw in[static_cast<std::size_t>(batch)]{};
      PGAS_UNROLL
      for (std::int32_t b = 0; b < batch; ++b) {
        if (base + b < job->members) in[b] = load_piece<access, Direct>(job, from, base + b);
      }
      PGAS_UNROLL
      for (std::int32_t b = 0; b < batch; ++b) {
        if (base + b < job->members) reduce_lanes<access, T>(op, sum, in[b], base + b == 0);
      }
    }
    const typename access::raw out = reduced<access, T>(sum);
    PGAS_ROLLED
    for (std::int32_t target = job->first_target; target < job->end_target; ++target)
      store_piece<access, Direct>(job, piece.in(all.dst, start), target, out);
  }
}
template <class T, bool Direct, class Op>
PGAS_OUTLINE void reduce_by_largest_units(Op op, const strided_reduce_job* job, slice me) {
  by_largest_units<unit_of<T>>(&job->blocks, [=](auto known, std::size_t start, std::size_t part) {
    reduce_pieces<T, decltype(known)::value, Direct>(op, job, start, part, me);
  });
}

/// Reduces the blocks of all members of a team. The elements have type T. Each thread of the group reduces its share. A
/// barrier before the call makes the blocks visible.
/// *Memory* the destination need not be symmetric if this PE is the only target.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void reduce_blocks(const context& ctx, const G& g, const team_view& team, strided_reduce_job* job, Op op) {
  if (!all_direct(ctx, team)) PGAS_UNLIKELY {
    const participant here{ctx, team};
    job->here = &here;
    return reduce_by_largest_units<T, false>(op, job, slice_of(g));
  }
  job->peers = direct_peer_map(ctx, team);
  reduce_by_largest_units<T, true>(op, job, slice_of(g));
}

}  // namespace pgas::detail
