/// @file
/// The all-reduce of large messages in teams that span domains, used by `reduce/all_reduce_algorithm.hpp`.
/// Hierarchical all-reduce: reduce-scatter within each domain, reduction across domains, all-gather within each domain.
#pragma once

#include "pgas/device/impl/hierarchy/hierarchical_collective.hpp"

namespace pgas::detail {

/// First step, within the domain: a member reduces its slice of the domain's sources into its own destination.
template <class T, class Op>
PGAS_FN void reduce_in_domain(const domain_call* call, Op op, slice me) {
  const domain_channel channel = call->channel();
  const std::int32_t members = channel.hierarchy.count(channel.hierarchy.mine());
  const T* const src = reinterpret_cast<const T*>(call->src);
  const std::size_t begin = slice_start(src, call->count, members, channel.hierarchy.rank());
  const std::size_t end = slice_start(src, call->count, members, channel.hierarchy.rank() + 1);
  reduce_elements<reduce_result::whole, T>(
      op,
      reduce_job{call->src + begin * sizeof(T), call->dst + begin * sizeof(T), end - begin, domain_peer_map(channel),
                 members, channel.hierarchy.rank(), channel.hierarchy.rank() + 1},
      me);
}

/// Second step, across domains: a member reduces its slice of the domains' results and sends the result to the owners
/// of the slice in every domain.
PGAS_OUTLINE_IN_UNIT void make_domain_job(const domain_call* call, staged_job* result) {
  const team_view& team = call->here.team;
  const partition all =
      domain_partition(reinterpret_cast<std::uintptr_t>(call->src), call->element, call->count, team.n_pes());
  const std::size_t begin = all.start(team.my_pe());
  const reduce_job job{call->src + begin * call->element,
                       call->dst + begin * call->element,
                       all.start(team.my_pe() + 1) - begin,
                       {},
                       0,
                       0,
                       0};
  *result = {&call->here, job, {call->count, begin}, operands::domains, operation::reduce};
}

/// Third step, within the domain: a member puts its slice of the result to the other members.
PGAS_OUTLINE_IN_UNIT void put_own_result(const domain_call* call, slice me) {
  const domain_channel channel = call->channel();
  const byte_range own = own_range(call, call->src);
  std::byte* const dst = call->dst + own.begin;
  const std::int32_t members = channel.hierarchy.count(channel.hierarchy.mine());
  for (std::int32_t k = channel.hierarchy.rank() + 1; k < channel.hierarchy.rank() + members; ++k)
    put_congruent(domain_peer_map(channel).at(dst, k < members ? k : k - members), dst, own.bytes, me);
}

/// The three steps of the all-reduce, and the barriers before, between and after the steps.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void hierarchical_reduce(const domain_call* call, const G& g, const Op& op) {
  collective_barrier_of(call, g, operation::reduce);
  reduce_in_domain<T>(call, op, slice_of(g));
  collective_barrier_of(call, g, operation::reduce);
  staged_job across;
  make_domain_job(call, &across);
  reduce_staged<reduce_result::whole, T>(&across, g, op);
  collective_barrier_of(call, g, operation::reduce);
  put_own_result(call, slice_of(g));
  collective_barrier_of(call, g, operation::reduce);
}

}  // namespace pgas::detail
