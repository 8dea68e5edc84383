/// @file
/// Collectives that move data among the members of a team. Reductions and scans are in `reduce.hpp`, which this header
/// includes. The following holds for all collectives.
///
/// *Callers* all threads of the group `g`, converged, on every member of `team`, in the same order on all members.
/// Groups may differ from PE to PE. Calls on different teams, or on different channels of one team
/// (team_view::channel()), are independent: several blocks can call collectives at the same time, each on its own
/// channel. The form without a group is for a single thread.
///
/// *Units* `count` is the number of elements, the same on all members unless a function says otherwise. With a count of
/// 0 no data is moved, but the members still synchronize.
///
/// *Memory* `dst` is symmetric: the same variable on every member. A member writes to the `dst` of other members as
/// soon as it makes the call. Every member must therefore have finished with the old contents before any member makes
/// the call; a barrier() ensures this. `src` is any memory of this PE. `src` and `dst` must not overlap, except where a
/// function allows it.
///
/// *On return* this PE's `dst` is complete, for all threads of the group, and `src` may be reused.
///
/// *Order* the call sends the values that all threads of the group have stored to `src` before the call. The call does
/// not order accesses to other memory. When the call returns on a member, all other members have made the call. Earlier
/// stores of the other members to other memory are not necessarily visible, and earlier stores of this member are not
/// necessarily complete. Use a barrier(), or a fence() and a signal, to order other memory. (Collectives of long
/// messages contain barriers; collectives of short messages do not: impl/ll/ll_exchange.hpp.)
///
/// *Errors* ends the group with a record when the world is aborted or the deadline passes. With checks on, the call
/// also ends the group if an argument is wrong: memory outside the heap, a team that does not contain this PE, a
/// channel that the team does not have, or a root that is not a member. With checks on, the call also ends the group if
/// members make different calls; the record then names one of these members.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/barrier.hpp"
#include "pgas/device/impl/copy/member_copies.hpp"
#include "pgas/device/impl/ll/ll_collective.hpp"
#include "pgas/device/reduce.hpp"
#include "pgas/device/scan.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Copies member `root`'s `count` elements to every member.
///
/// *Memory* `src` is read on the root only. In place: `dst == src` on the root.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void broadcast(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count,
                       std::int32_t root) {
  constexpr auto what = detail::operation::broadcast;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY {
    detail::check_member(ctx.copy_, team, what);
    detail::check_root(ctx.copy_, team, what, root);
    detail::check_buffer(ctx, what, dst, count);
    detail::check_collective(ctx.copy_, g, team, {what, 0, sizeof(T), count, 1, 1, root, dst});
  }
  if (detail::fits_ll_copy(ctx, team, count * sizeof(T)))
    return detail::ll_broadcast(ctx, g, team, dst, src, count, root);
  if (detail::fits_hierarchy(ctx, team, count * sizeof(T))) PGAS_UNLIKELY {
    const detail::domain_call call = detail::domain_call_of(ctx, team, dst, src, count);
    detail::broadcast_by_domains<detail::unit_of<T>>(&call, g, root);
  } else if (detail::fetches_broadcast(ctx, team, count * sizeof(T))) {
    detail::fetch_broadcast(ctx, g, team, dst, src, count, root);
  } else if (team.my_pe() == root) {
    detail::sync_unless_lockstep(g);
    detail::put_to_all(ctx, g, team, dst, src, count);
  }
  detail::lockstep_barrier(ctx, g, team, what);
}

/// @brief Like broadcast(), called by one thread of each member.
template <PGAS_IS(rma_type) T>
PGAS_FN void broadcast(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count,
                       std::int32_t root) {
  broadcast(ctx, this_thread{}, team, dst, src, count, root);
}

/// @brief Gathers every member's `count` elements, in the order of the members, on every member (all-gather).
///
/// *Memory* `dst` has room for n_pes() * count elements. In place: `src == dst + my_pe() * count`.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void fcollect(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count) {
  constexpr auto what = detail::operation::fcollect;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY {
    detail::check_member(ctx.copy_, team, what);
    detail::check_buffer(ctx, what, dst, detail::times(count, static_cast<std::uint64_t>(team.n_pes())));
    detail::check_collective(ctx.copy_, g, team, {what, 0, sizeof(T), count, 1, 1, 0, dst});
  }
  if (detail::fits_ll_copy(ctx, team, count * sizeof(T)))
    return detail::ll_exchange_blocks(ctx, g, team, dst, src, count, 0, what);
  detail::sync_unless_lockstep(g);
  if (detail::fits_hierarchy(ctx, team, static_cast<std::size_t>(team.n_pes()) * count * sizeof(T))) PGAS_UNLIKELY {
    const detail::domain_call call = detail::domain_call_of(ctx, team, dst, src, count);
    detail::gather_by_domains<detail::unit_of<T>>(&call, g, what);
  } else {
    detail::put_to_all(ctx, g, team, dst + static_cast<std::size_t>(team.my_pe()) * count, src, count);
  }
  detail::lockstep_barrier(ctx, g, team, what);
}

/// @brief Like fcollect(), called by one thread of each member.
template <PGAS_IS(rma_type) T>
PGAS_FN void fcollect(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count) {
  fcollect(ctx, this_thread{}, team, dst, src, count);
}

/// @brief Like fcollect(), with counts that differ from member to member.
///
/// The members first exchange the counts, which takes an additional barrier.
///
/// *Units* `count` is the number of this member's elements.
/// *Memory* `dst` has room for the sum of all counts. In place: `src` may be this member's part of `dst`.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void collect(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count) {
  constexpr auto what = detail::operation::collect;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_collective(ctx.copy_, g, team, {what, 0, sizeof(T), 0, 1, 1, 0, dst});
  const std::uint64_t before = detail::sum_before(ctx, g, team, count, what);
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_buffer(ctx, what, dst, before > ~std::uint64_t{0} - count ? ~std::uint64_t{0} : before + count);
  if (detail::may_span_domains(ctx, team) &&
      detail::fits_hierarchy(ctx, team, detail::sum_of_values(ctx, team) * sizeof(T))) PGAS_UNLIKELY {
    const detail::domain_call call = detail::domain_call_of(ctx, team, dst, src, count);
    detail::gather_by_domains<detail::unit_of<T>>(&call, g, what);
  } else {
    detail::put_to_all(ctx, g, team, dst + before, src, count);
  }
  // members have different counts and different numbers of blocks, so the blocks can't have separate barriers
  detail::collective_barrier(ctx, g, team, what);
}

/// @brief Like collect(), called by one thread of each member.
template <PGAS_IS(rma_type) T>
PGAS_FN void collect(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count) {
  collect(ctx, this_thread{}, team, dst, src, count);
}

/// @brief Sends block j of member i's `src` to block i of member j's `dst`; a block is `count` elements.
///
/// *Memory* `src` and `dst` have n_pes() * count elements and must not overlap.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void alltoall(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count) {
  constexpr auto what = detail::operation::alltoall;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY {
    detail::check_member(ctx.copy_, team, what);
    detail::check_buffer(ctx, what, dst, detail::times(count, static_cast<std::uint64_t>(team.n_pes())));
    detail::check_collective(ctx.copy_, g, team, {what, 0, sizeof(T), count, 1, 1, 0, dst});
  }
  if (detail::fits_ll_copy(ctx, team, count * sizeof(T)))
    return detail::ll_exchange_blocks(ctx, g, team, dst, src, count, count, what);
  const auto elements = static_cast<std::ptrdiff_t>(count);
  detail::for_each_block(ctx, g, team, dst, src, elements, elements, [&](T* to, const T* from, std::int32_t world_pe) {
    detail::put_to_member(ctx, g, to, from, count, world_pe);
  });
  detail::lockstep_barrier(ctx, g, team, what);
}

/// @brief Like alltoall(), called by one thread of each member.
template <PGAS_IS(rma_type) T>
PGAS_FN void alltoall(const context& ctx, const team_view& team, T* dst, const T* src, std::size_t count) {
  alltoall(ctx, this_thread{}, team, dst, src, count);
}

/// @brief Like alltoall(), for elements that are `src_stride` apart in `src` and `dst_stride` apart in `dst`.
///
/// *Units* strides are numbers of elements, at least 1 and the same on all members.
/// *Memory* `src` has n_pes() * count * src_stride elements and `dst` has n_pes() * count * dst_stride elements.
/// Elements after the last used element need not exist. The gaps in `dst` are not written. `src` and `dst` must not
/// overlap.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void alltoalls(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                       std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count) {
  constexpr auto what = detail::operation::alltoalls;
  detail::traced_operation traced(ctx, g, what);
  if (ctx.checks()) PGAS_UNLIKELY {
    detail::check_member(ctx.copy_, team, what);
    const std::uint64_t elements = detail::times(count, static_cast<std::uint64_t>(team.n_pes()));
    detail::check_buffer(ctx, what, dst, src_stride < 1 ? ~std::uint64_t{0} : detail::span_of(elements, dst_stride));
    detail::check_collective(ctx.copy_, g, team, {what, 0, sizeof(T), count, dst_stride, src_stride, 0, dst});
  }
  const auto elements = static_cast<std::ptrdiff_t>(count);
  detail::for_each_block(ctx, g, team, dst, src, elements * dst_stride, elements * src_stride,
                         [&](T* to, const T* from, std::int32_t world_pe) {
                           detail::put_strided_to_member(ctx, g, to, from, dst_stride, src_stride, count, world_pe);
                         });
  detail::lockstep_barrier(ctx, g, team, what);
}

/// @brief Like alltoalls(), called by one thread of each member.
template <PGAS_IS(rma_type) T>
PGAS_FN void alltoalls(const context& ctx, const team_view& team, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t count) {
  alltoalls(ctx, this_thread{}, team, dst, src, dst_stride, src_stride, count);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
