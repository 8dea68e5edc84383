/// @file
/// A collective_request executed by the device operations. Both backends use it: one calls, one launches.
#pragma once

#include "device/shared/runtime_reduce_op.hpp"
#include "pgas/device/collective.hpp"
#include "pgas/device/impl/reduce/host_collective_request.hpp"

namespace pgas::detail {

/// Any collective that moves data or only synchronises, byte by byte: the copies find the access size in the addresses.
template <group G>
PGAS_FN void execute_move(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  auto* const dst = static_cast<std::byte*>(r.dst);
  const auto* const src = static_cast<const std::byte*>(r.src);
  const std::size_t bytes = r.count * r.element_bytes;
  switch (r.what) {
    case collective_kind::barrier: return barrier(ctx, g, team);
    case collective_kind::sync: return sync(ctx, g, team);
    case collective_kind::broadcast: return broadcast(ctx, g, team, dst, src, bytes, r.root);
    case collective_kind::fcollect: return fcollect(ctx, g, team, dst, src, bytes);
    case collective_kind::collect: return collect(ctx, g, team, dst, src, bytes);
    case collective_kind::alltoall: return alltoall(ctx, g, team, dst, src, bytes);
    default: break;
  }
  if (ctx.checks()) [[unlikely]]
    check_collective(ctx, g, team,
                     {operation::alltoalls, 0, r.element_bytes, r.count, r.dst_stride, r.src_stride, 0, dst});
  const auto element = static_cast<std::ptrdiff_t>(r.element_bytes);
  const std::ptrdiff_t dst_step = r.dst_stride * element;
  const std::ptrdiff_t src_step = r.src_stride * element;
  const auto count = static_cast<std::ptrdiff_t>(r.count);
  const std::size_t unit =
      unit_of_all(reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | r.element_bytes);
  const slice mine{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
  for_each_block(
      ctx, g, team, dst, src, count * dst_step, count * src_step,
      [&](std::byte* to, const std::byte* from, std::int32_t world_pe) {
        ctx.by_world_route(
            to, world_pe,
            [&](std::byte* there) {
              copy_blocks<direction::put>(unit, {there, dst_step}, {from, src_step}, r.element_bytes, r.count, mine);
            },
            [&](std::int32_t proxied_pe) {
              proxied_strided<direction::put>(proxy_queue_of(ctx), g, proxied_pe, to, from,
                                              strided_range{r.element_bytes, r.count, src_step, dst_step},
                                              completion::submitted);
            });
      });
  lockstep_barrier(ctx, g, team, operation::alltoalls);
}

/// Any reduction or scan of elements of type T.
template <class T, group G>
PGAS_FN void execute_reduction(const context& ctx, const G& g, const team_view& team, const collective_request& r) {
  const runtime_reduce_op op(r);
  auto* const dst = static_cast<T*>(r.dst);
  const auto* const src = static_cast<const T*>(r.src);
  switch (r.what) {
    case collective_kind::reduce: return reduce(ctx, g, team, dst, src, r.count, op);
    case collective_kind::reduce_to_root: return reduce_to_root(ctx, g, team, dst, src, r.count, op, r.root);
    case collective_kind::reduce_scatter: return reduce_scatter(ctx, g, team, dst, src, r.count, op);
    case collective_kind::inclusive_scan: return inclusive_scan(ctx, g, team, dst, src, r.count, op);
    default: return exclusive_scan(ctx, g, team, dst, src, r.count, op);
  }
}

/// Whether a request moves data instead of reducing it.
[[nodiscard]] constexpr bool moves(const collective_request& r) { return r.what < collective_kind::reduce; }

}  // namespace pgas::detail
