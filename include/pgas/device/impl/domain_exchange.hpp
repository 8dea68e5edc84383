/// @file
/// Collectives of teams whose members do not all reach each other by load and store, for so much data that the network
/// is what they wait for: within the domains first, then across, then within again. What is sent to a domain crosses
/// the network once, and members of both domains share the work.
#pragma once

#include "pgas/device/impl/barrier.hpp"
#include "pgas/device/impl/proxied_fold.hpp"

namespace pgas::detail {

/// From so many bytes on the network is worth more meetings.
inline constexpr std::size_t by_domains_bytes = std::size_t{16} << 10;

/// Whether a collective of `bytes` bytes goes by domains; the same on all members.
[[nodiscard]] PGAS_COLD bool worth_domains(domain_plan plan, std::size_t bytes) {
  return plan.domains() > 1 && plan.domains() < plan.members() && bytes >= by_domains_bytes;
}
[[nodiscard]] PGAS_FN bool goes_by_domains(const context& ctx, const team_view& team, std::size_t bytes) {
  return may_span_domains(ctx, team) && worth_domains(domain_channel_of(ctx, team).plan, bytes);
}

/// This PE's copy of the word in which member `i` says how much it has.
[[nodiscard]] PGAS_FN std::uint64_t* value_word(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + team.channel_offset() + team_layout::value(team.n_pes(), i));
}

/// A call of a collective: in memory, as there would be no registers for it.
template <class T>
struct domain_call {
  context ctx;
  team_view team;
  T* dst;
  const T* src;
  std::size_t count;
};

/// Puts elements from `begin` of the destination on there on the members of this PE's domain, this PE last; nothing
/// there if they are its `src`.
template <class T, PGAS_IS(group) G>
PGAS_COLD void spread_near(const domain_call<T>* call, G g, std::size_t begin, const T* src, std::size_t count) {
  const domain_channel of = domain_channel_of(call->ctx, call->team);
  T* const dst = call->dst + begin;
  const std::int32_t near = of.plan.count(of.plan.mine());
  const std::int32_t end = of.plan.rank() + near + (dst == src ? 0 : 1);
  for (std::int32_t k = of.plan.rank() + 1; k < end; ++k)
    copy<direction::put>(g, near_reach(of).at(dst, k < near ? k : k - near), src, count);
}

/// This member's share of what all of its domain need, and it alone has: spreads it. @param alike an address that is
/// aligned in the same way on all members
template <class T, PGAS_IS(group) G>
PGAS_COLD void spread_share(const domain_call<T>* call, G g, const T* alike) {
  const domain_plan plan = domain_channel_of(call->ctx, call->team).plan;
  const std::size_t begin = share_start(alike, call->count, plan.count(plan.mine()), plan.rank());
  const std::size_t end = share_start(alike, call->count, plan.count(plan.mine()), plan.rank() + 1);
  spread_near(call, g, begin, static_cast<const T*>(call->dst + begin), end - begin);
}

/// Has the proxy put some of the elements at `src` at the same place of a member's destination. They are under way
/// until the barrier at the end of the collective, which completes it.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_far(const domain_call<T>& call, const G& g, std::size_t begin, const T* src, std::size_t count,
                     std::int32_t far) {
  proxied_put(sender_of(call.ctx), g, far, call.dst + begin, src, count * sizeof(T), until::handed_over);
}

/// Gives each member of another domain a share of the root's elements.
template <class T, PGAS_IS(group) G>
PGAS_COLD void deal_out(const domain_call<T>* call, G g) {
  const domain_plan plan = domain_channel_of(call->ctx, call->team).plan;
  for (std::int32_t d = 0; d < plan.domains(); ++d) {
    for (std::int32_t k = 0; d != plan.mine() && k < plan.count(d); ++k) {
      const std::size_t begin = share_start(call->dst, call->count, plan.count(d), k);
      const std::size_t end = share_start(call->dst, call->count, plan.count(d), k + 1);
      put_far(*call, g, begin, call->src + begin, end - begin, plan.world_pe(d, k));
    }
  }
}

/// Whether a member is of this PE's domain.
[[nodiscard]] PGAS_COLD bool is_near(domain_plan plan, std::int32_t member) {
  std::int32_t k = plan.count(plan.mine()) - 1;
  while (k >= 0 && plan.member(plan.mine(), k) != member) --k;
  return k >= 0;
}

/// A broadcast() but for the meeting at its end: each member of another domain gets a share from the root, and spreads
/// it.
template <class T, PGAS_IS(group) G>
PGAS_COLD void broadcast_by_domains(const domain_call<T>* call, G g, std::int32_t root) {
  if (call->team.my_pe() == root) {
    deal_out(call, g);
    spread_near(call, g, 0, call->src, call->count);
  }
  meet_or_end(call->ctx, g, call->team, operation::broadcast);
  if (!is_near(domain_channel_of(call->ctx, call->team).plan, root))
    spread_share(call, g, static_cast<const T*>(call->dst));
}

/// Where the elements of a member lie among those of all, by what the members have told; or all have as many.
template <class T>
[[nodiscard]] PGAS_COLD held_part block_of(const domain_call<T>* call, operation what, std::int32_t member) {
  if (what == operation::fcollect) return {call->count, static_cast<std::size_t>(member) * call->count};
  held_part block{load_relaxed(value_word(call->ctx, call->team, member)), 0};
  for (std::int32_t i = 0; i < member; ++i) block.before += load_relaxed(value_word(call->ctx, call->team, i));
  return block;
}
/// What all members have told.
[[nodiscard]] PGAS_FN std::uint64_t sum_of_values(const context& ctx, const team_view& team) {
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < team.n_pes(); ++i) sum += load_relaxed(value_word(ctx, team, i));
  return sum;
}

/// Sends this member's elements to one of each other domain.
template <class T, PGAS_IS(group) G>
PGAS_COLD void send_across(const domain_call<T>* call, G g, held_part own) {
  const domain_plan plan = domain_channel_of(call->ctx, call->team).plan;
  for (std::int32_t d = 0; d < plan.domains(); ++d) {
    if (d != plan.mine())
      put_far(*call, g, own.before, call->src, own.count, plan.world_pe(d, plan.rank() % plan.count(d)));
  }
}

/// A walk through the members of other domains that have sent to this one.
template <class T>
struct received {
  const domain_call<T>* call;
  operation what;
  std::int32_t domain;
  std::int32_t k;   ///< of the domain's members, the one to come
  held_part block;  ///< of the one before
};
/// One more of them. False behind the last one.
template <class T>
[[nodiscard]] PGAS_COLD bool next_received(received<T>* at) {
  const domain_plan plan = domain_channel_of(at->call->ctx, at->call->team).plan;
  while (at->domain == plan.mine() || at->k >= plan.count(at->domain)) {
    if (++at->domain >= plan.domains()) return false;
    at->k = plan.rank();
  }
  at->block = block_of(at->call, at->what, plan.member(at->domain, at->k));
  at->k += plan.count(plan.mine());
  return true;
}

/// Spreads what members of other domains have sent to this one. (Where it is lies in memory, as there are few registers
/// this deep below a kernel.)
template <class T, PGAS_IS(group) G>
PGAS_COLD void spread_received(const domain_call<T>* call, G g, operation what) {
  received<T> at{call, what, 0, domain_channel_of(call->ctx, call->team).plan.rank(), {}};
  while (next_received(&at))
    spread_near(at.call, g, at.block.before, static_cast<const T*>(at.call->dst + at.block.before), at.block.count);
}

/// An fcollect() or collect() but for the meeting at its end.
template <class T, PGAS_IS(group) G>
PGAS_COLD void gather_by_domains(const domain_call<T>* call, G g, operation what) {
  const held_part own = block_of(call, what, call->team.my_pe());
  send_across(call, g, own);
  spread_near(call, g, own.before, call->src, own.count);
  meet_or_end(call->ctx, g, call->team, what);
  spread_received(call, g, what);
}

/// What each member of a domain does of a reduce(): folds a share of the elements of its domain's members into its own
/// destination.
template <class T, class Op, PGAS_IS(group) G>
PGAS_COLD void reduce_within(const domain_call<T>* call, G g, Op op) {
  const domain_channel of = domain_channel_of(call->ctx, call->team);
  const std::int32_t near = of.plan.count(of.plan.mine());
  const std::size_t begin = share_start(call->src, call->count, near, of.plan.rank());
  const std::size_t end = share_start(call->src, call->count, near, of.plan.rank() + 1);
  fold<fold_result::whole, T>(
      op,
      fold_job{reinterpret_cast<const std::byte*>(call->src + begin), reinterpret_cast<std::byte*>(call->dst + begin),
               end - begin, near_reach(of), near, of.plan.rank(), of.plan.rank() + 1},
      share_of(g));
}

/// What each member of the team does: folds a share of what the domains have made, and sends it back.
template <class T, class Op, PGAS_IS(group) G>
PGAS_COLD void reduce_across(const domain_call<T>* call, G g, Op op) {
  const team_view& team = call->team;
  const std::size_t begin = share_start(call->src, call->count, team.n_pes(), team.my_pe());
  const std::size_t end = share_start(call->src, call->count, team.n_pes(), team.my_pe() + 1);
  const routed_job across{call->ctx,
                          team,
                          {reinterpret_cast<const std::byte*>(call->src + begin),
                           reinterpret_cast<std::byte*>(call->dst + begin),
                           end - begin,
                           {},
                           0,
                           0,
                           0},
                          {call->count, begin},
                          operands::domains,
                          operation::reduce};
  fold_by_any_route<fold_result::whole, T>(&across, g, op);
}

/// A reduce(), meetings and all: within the domains, across, and within again.
template <class T, class Op, PGAS_IS(group) G>
PGAS_COLD void reduce_by_domains(const domain_call<T>* call, G g, Op op) {
  meet_or_end(call->ctx, g, call->team, operation::reduce);
  reduce_within(call, g, op);
  meet_or_end(call->ctx, g, call->team, operation::reduce);
  reduce_across(call, g, op);
  meet_or_end(call->ctx, g, call->team, operation::reduce);
  spread_share(call, g, call->src);
  meet_or_end(call->ctx, g, call->team, operation::reduce);
}

}  // namespace pgas::detail
