/// @file
/// Reductions and scans by two-shot: each member reduces its slice of all sources and stores the results at their
/// targets. Used by `all_reduce_algorithm.hpp`, and by reduce_to_root(), reduce_scatter() and the scans.
///
/// Two-shot all-reduce (reduce-scatter by loads, all-gather by stores): each of N members transfers 2 S (N - 1) / N
/// bytes for S bytes of elements, without additional memory. NCCL calls the algorithm "RSxLD_AGxST"
/// (src/device/symmetric/all_reduce.cuh). `proxied_reduce.hpp` fetches operands of proxied PEs.
#pragma once

#include "pgas/device/impl/hierarchy/proxied_reduce.hpp"
#include "pgas/device/impl/reduce/reduce_loop.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// Executes a job by all threads of a group. Fills in the peer map of the job.
template <reduce_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_FN void reduce_by_route(const context& ctx, const G& g, const team_view& team, const Op& op, reduce_job job,
                             operation what) {
  job.peers = peer_map_of(ctx, team);
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const domain_channel channel = domain_channel_of(ctx, team);
    if (channel.spans_domains()) {
      const participant here{ctx, team};
      const staged_job call{&here, job, {job.count, 0}, operands::members, what};
      return reduce_staged<Result, T>(&call, g, op);
    }
    if (channel.hierarchy.domains() == 1) job.peers = domain_peer_map(channel);
  }
  reduce_elements<Result, T>(op, job, slice_of(g));
}

/// A reduction in which each member reduces its slice. A barrier before the reduction makes all sources visible, and a
/// barrier after the reduction makes all results visible. @param first_target, end_target members that receive whole
/// results
template <reduce_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_FN void twoshot_reduce(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                            std::size_t count, Op op, std::int32_t first_target, std::int32_t end_target,
                            operation what) {
  const partition all = partition_of(reinterpret_cast<std::uintptr_t>(src), sizeof(T), count, team.n_pes());
  const std::size_t begin = all.start(team.my_pe());
  const std::size_t end = all.start(team.my_pe() + 1);
  const reduce_job job{reinterpret_cast<const std::byte*>(src + begin),
                       reinterpret_cast<std::byte*>(dst + begin),
                       end - begin,
                       {},
                       team.n_pes(),
                       first_target,
                       end_target};
  lockstep_barrier(ctx, g, team, what);
  reduce_by_route<Result, T>(ctx, g, team, op, job, what);
  lockstep_barrier(ctx, g, team, what);
}

/// A reduction in which each member receives its own block of `count` elements.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void twoshot_reduce_scatter(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                                    std::size_t count, Op op) {
  const reduce_job job{reinterpret_cast<const std::byte*>(src + static_cast<std::size_t>(team.my_pe()) * count),
                       reinterpret_cast<std::byte*>(dst),
                       count,
                       {},
                       team.n_pes(),
                       team.my_pe(),
                       team.my_pe() + 1};
  lockstep_barrier(ctx, g, team, operation::reduce_scatter);
  reduce_by_route<reduce_result::whole, T>(ctx, g, team, op, job, operation::reduce_scatter);
  lockstep_barrier(ctx, g, team, operation::reduce_scatter);
}

}  // namespace pgas::detail
