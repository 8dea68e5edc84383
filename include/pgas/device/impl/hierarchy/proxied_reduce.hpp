/// @file
/// Folds of teams with members that load and store do not reach: what depends on the type, the operation and the group
/// of a fold whose way is that of `staged_reduce.hpp`.
#pragma once

#include "pgas/device/impl/hierarchy/staged_reduce.hpp"

namespace pgas::detail {

/// This thread's share of one operand.
template <reduce_result Result, class T, class Op>
PGAS_COLD void reduce_operand(const operand* with, Op op, slice me) {
  using A = accumulator_of<Op, T>;
  using element = stored_as<T, A>;
  const auto* const in = reinterpret_cast<const element*>(with->in);
  auto* const out = reinterpret_cast<element*>(with->out);
  auto* const inner = reinterpret_cast<A*>(with->inner);
  PGAS_ROLLED
  for (std::size_t k = me.rank; k < with->count; k += me.size) {
    const A value = accumulated<T, A>(in[k]);
    if constexpr (Result == reduce_result::exclusive) {
      out[k] = stored<T, A>(with->starts ? op.template identity<A>() : inner[k]);
    }
    A sum = with->starts ? value : static_cast<A>(op(inner[k], value));
    inner[k] = sum;
    if constexpr (Result == reduce_result::inclusive) out[k] = stored<T, A>(sum);
    if constexpr (Result == reduce_result::whole) {
      if (!with->ends) continue;
      auto* const outer = reinterpret_cast<A*>(with->outer);
      sum = accumulated<T, A>(stored<T, A>(sum));
      if (!with->opens) sum = static_cast<A>(op(outer[k], sum));
      outer[k] = sum;
      if (out != nullptr) out[k] = stored<T, A>(sum);
    }
  }
}

/// Meets so that one thread settles for all.
template <PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void drain_by_leader(staged_reduce* route, G g) {
  g.sync();
  exit_unless_leader(g, g.thread_rank() == 0 && drain_staged(route));
}

/// A job by all threads of a group. Out of line and in memory, as there are few registers below a kernel.
template <reduce_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void reduce_staged(const staged_job* call, G g, Op op) {
  using A = accumulator_of<Op, T>;
  static_assert(sizeof(T) <= 4096, "elements of reductions have at most 4096 bytes");
  if (call->job.count == 0) return;
  staged_reduce route;
  open_staged(&route, call, Result, {sizeof(T), sizeof(A), alignof(A)}, slice_of(g));
  for (;;) {
    drain_by_leader(&route, g);
    if (!begin_step(&route)) break;
    operand with{};
    while (next_operand(&route, &with)) reduce_operand<Result, T>(&with, op, slice_of(g));
    g.sync();
    send_results(&route);
  }
}

/// How the folds of a collective reach the members of a team where there are no proxied PEs at all.
[[nodiscard]] PGAS_FN peer_map peer_map_of(const context& ctx, const team_view& team) {
  const std::int32_t start = team.members_ == nullptr ? team.start_ : 0;
  return {team.members_, start - ctx.world_pe_, team.stride_, ctx.log2_stride_};
}
/// The same for the members of a team in this PE's domain.
[[nodiscard]] PGAS_FN peer_map domain_peer_map(const domain_channel& of) {
  return {of.hierarchy.slots(), 0, 0, of.log2_stride};
}

/// Either, where all members reach each other by load and store.
[[nodiscard]] PGAS_FN peer_map direct_peer_map(const context& ctx, const team_view& team) {
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY
    return domain_peer_map(domain_channel_of(ctx, team));
  return peer_map_of(ctx, team);
}

/// A job by all threads of a group, which need not say how to reach the members.
template <reduce_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_FN void reduce_by_route(const context& ctx, const G& g, const team_view& team, const Op& op, reduce_job job,
                             operation what) {
  job.peers = peer_map_of(ctx, team);
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const domain_channel of = domain_channel_of(ctx, team);
    if (of.spans_domains()) {
      const participant here{ctx, team};
      const staged_job call{&here, job, {job.count, 0}, operands::members, what};
      return reduce_staged<Result, T>(&call, g, op);
    }
    if (of.hierarchy.domains() == 1) job.peers = domain_peer_map(of);
  }
  reduce_elements<Result, T>(op, job, slice_of(g));
}

}  // namespace pgas::detail
