/// @file
/// Collectives of teams whose members do not all reach each other by load and store, for so much data that the network
/// is what they wait for: within the domains first, then across, then within again. What is sent to a domain crosses
/// the network once, and members of both domains share the work.
#pragma once

#include "pgas/device/impl/hierarchy/proxied_reduce.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// From so many bytes on the network is worth more meetings.
inline constexpr std::size_t by_domains_bytes = std::size_t{16} << 10;

/// Whether a collective of `bytes` bytes goes by domains; the same on all members.
[[nodiscard]] PGAS_COLD bool worth_domains(team_hierarchy plan, std::size_t bytes) {
  return plan.domains() > 1 && plan.domains() < plan.members() && bytes >= by_domains_bytes;
}
[[nodiscard]] PGAS_FN bool goes_by_domains(const context& ctx, const team_view& team, std::size_t bytes) {
  return may_span_domains(ctx, team) && worth_domains(domain_channel_of(ctx, team).plan, bytes);
}

/// This PE's copy of the word in which member `i` says how much it has.
[[nodiscard]] PGAS_FN std::uint64_t* value_word(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + team.channel_offset() + team_layout::value(team.n_pes(), i));
}

/// A call of a collective: in memory, as there would be no registers for it, and without the type of its elements, so
/// that there is one copy of most of what follows.
struct domain_call {
  participant here;
  std::byte* dst;
  const std::byte* src;
  std::size_t count;
  std::uint32_t element;  ///< bytes

  [[nodiscard]] PGAS_FN domain_channel channel() const { return here.channel(); }
  [[nodiscard]] PGAS_FN team_hierarchy plan() const { return channel().plan; }
  [[nodiscard]] PGAS_FN std::size_t bytes() const { return count * element; }
};
template <class T>
[[nodiscard]] PGAS_FN domain_call domain_call_of(const context& ctx, const team_view& team, T* dst, const T* src,
                                                 std::size_t count) {
  return {{ctx, team}, reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), count, sizeof(T)};
}

/// Some bytes of a whole.
struct stretch {
  std::size_t begin;
  std::size_t bytes;
};
/// Those of member `k` of domain `d` where the domain's members share. @param alike an address that is aligned in the
/// same way on all members
[[nodiscard]] PGAS_OUTLINE_IN_UNIT stretch share_in(const domain_call* call, const std::byte* alike, std::int32_t d,
                                                    std::int32_t k) {
  const shares all =
      domain_shares(reinterpret_cast<std::uintptr_t>(alike), call->element, call->count, call->plan().count(d));
  return {all.start(k) * call->element, (all.start(k + 1) - all.start(k)) * call->element};
}
[[nodiscard]] PGAS_FN stretch own_share(const domain_call* call, const std::byte* alike) {
  return share_in(call, alike, call->plan().mine(), call->plan().rank());
}

/// meet_or_end() of a call.
template <PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void meet_again(const domain_call* call, G g, operation what) {
  meet_or_end(call->here.ctx, g, call->here.team, what);
}

/// Puts bytes at the place of `where` on the members of this PE's domain, this PE last; nothing there if they are its
/// `src`. @param Unit what the element type guarantees of their alignment
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void spread_near(const domain_call* call, G g, stretch where, const std::byte* src) {
  using unit = unit_word<Unit>;
  const domain_channel of = call->channel();
  std::byte* const dst = call->dst + where.begin;
  const std::int32_t near = of.plan.count(of.plan.mine());
  const std::int32_t end = of.plan.rank() + near + (dst == src ? 0 : 1);
  for (std::int32_t k = of.plan.rank() + 1; k < end; ++k)
    copy<direction::put>(g, reinterpret_cast<unit*>(near_reach(of).at(dst, k < near ? k : k - near)),
                         reinterpret_cast<const unit*>(src), where.bytes / Unit);
}
/// The same of what lies in this PE's destination already.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_FN void spread_own(const domain_call* call, const G& g, stretch where) {
  spread_near<Unit>(call, g, where, call->dst + where.begin);
}

/// Has the proxy put bytes at the place of `where` of a member's destination. They are under way until the barrier at
/// the end of the collective, which completes it.
template <PGAS_IS(group) G>
PGAS_FN void put_far(const domain_call* call, const G& g, stretch where, const std::byte* src, std::int32_t far) {
  proxied_put(far_copy{sender_of(call->here.ctx), far, call->dst + where.begin, src, where.bytes, until::handed_over},
              g);
}

/// Gives each member of another domain a share of the root's elements.
template <PGAS_IS(group) G>
PGAS_COLD void deal_out(const domain_call* call, G g) {
  const team_hierarchy plan = call->plan();
  for (std::int32_t d = 0; d < plan.domains(); ++d) {
    for (std::int32_t k = 0; d != plan.mine() && k < plan.count(d); ++k) {
      const stretch part = share_in(call, call->dst, d, k);
      put_far(call, g, part, call->src + part.begin, plan.world_pe(d, k));
    }
  }
}

/// Whether a member is of this PE's domain.
[[nodiscard]] PGAS_COLD bool is_near(team_hierarchy plan, std::int32_t member) {
  std::int32_t k = plan.count(plan.mine()) - 1;
  while (k >= 0 && plan.member(plan.mine(), k) != member) --k;
  return k >= 0;
}

/// A broadcast() but for the meeting at its end: each member of another domain gets a share from the root, and spreads
/// it.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void broadcast_by_domains(const domain_call* call, G g, std::int32_t root) {
  if (call->here.team.my_pe() == root) {
    begin_together(g);
    deal_out(call, g);
    spread_near<Unit>(call, g, {0, call->bytes()}, call->src);
  }
  meet_again(call, g, operation::broadcast);
  if (!is_near(call->plan(), root)) spread_own<Unit>(call, g, own_share(call, call->dst));
}

/// Where the elements of a member lie among those of all, by what the members have told; or all have as many.
[[nodiscard]] PGAS_COLD stretch block_of(const domain_call* call, operation what, std::int32_t member) {
  if (what == operation::fcollect) return {static_cast<std::size_t>(member) * call->bytes(), call->bytes()};
  std::size_t before = 0;
  for (std::int32_t i = 0; i < member; ++i) before += load_relaxed(value_word(call->here.ctx, call->here.team, i));
  return {before * call->element, load_relaxed(value_word(call->here.ctx, call->here.team, member)) * call->element};
}
/// What all members have told.
[[nodiscard]] PGAS_FN std::uint64_t sum_of_values(const context& ctx, const team_view& team) {
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < team.n_pes(); ++i) sum += load_relaxed(value_word(ctx, team, i));
  return sum;
}

/// Sends this member's elements to one of each other domain.
template <PGAS_IS(group) G>
PGAS_COLD void send_across(const domain_call* call, G g, stretch own) {
  const team_hierarchy plan = call->plan();
  for (std::int32_t d = 0; d < plan.domains(); ++d) {
    if (d != plan.mine()) put_far(call, g, own, call->src, plan.world_pe(d, plan.rank() % plan.count(d)));
  }
}

/// A walk through the members of other domains that have sent to this one.
struct received {
  const domain_call* call;
  operation what;
  std::int32_t domain;
  std::int32_t k;  ///< of the domain's members, the one to come
  stretch block;   ///< of the one before
};
/// One more of them. False behind the last one.
[[nodiscard]] PGAS_COLD bool next_received(received* at) {
  const team_hierarchy plan = at->call->plan();
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
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void spread_received(const domain_call* call, G g, operation what) {
  received at{call, what, 0, call->plan().rank(), {}};
  while (next_received(&at)) spread_own<Unit>(at.call, g, at.block);
}

/// An fcollect() or collect() but for the meeting at its end.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void gather_by_domains(const domain_call* call, G g, operation what) {
  const stretch own = block_of(call, what, call->here.team.my_pe());
  send_across(call, g, own);
  spread_near<Unit>(call, g, own, call->src);
  meet_again(call, g, what);
  spread_received<Unit>(call, g, what);
}

/// What each member of a domain does of a reduce(): folds a share of the elements of its domain's members into its own
/// destination.
template <class T, class Op>
PGAS_FN void reduce_within(const domain_call* call, Op op, share me) {
  const domain_channel of = call->channel();
  const std::int32_t near = of.plan.count(of.plan.mine());
  const T* const src = reinterpret_cast<const T*>(call->src);
  const std::size_t begin = share_start(src, call->count, near, of.plan.rank());
  const std::size_t end = share_start(src, call->count, near, of.plan.rank() + 1);
  fold<fold_result::whole, T>(op,
                              fold_job{call->src + begin * sizeof(T), call->dst + begin * sizeof(T), end - begin,
                                       near_reach(of), near, of.plan.rank(), of.plan.rank() + 1},
                              me);
}

/// What each member of the team is to do then: fold a share of what the domains have made, and send it back.
PGAS_OUTLINE_IN_UNIT void make_job_across(const domain_call* call, routed_job* made) {
  const team_view& team = call->here.team;
  const shares all =
      domain_shares(reinterpret_cast<std::uintptr_t>(call->src), call->element, call->count, team.n_pes());
  const std::size_t begin = all.start(team.my_pe());
  const fold_job job{call->src + begin * call->element,
                     call->dst + begin * call->element,
                     all.start(team.my_pe() + 1) - begin,
                     {},
                     0,
                     0,
                     0};
  *made = {&call->here, job, {call->count, begin}, operands::domains, operation::reduce};
}

/// What each member of a domain does at last: spreads its share of the whole.
PGAS_OUTLINE_IN_UNIT void spread_whole(const domain_call* call, share me) {
  const domain_channel of = call->channel();
  const stretch own = own_share(call, call->src);
  std::byte* const dst = call->dst + own.begin;
  const std::int32_t near = of.plan.count(of.plan.mine());
  for (std::int32_t k = of.plan.rank() + 1; k < of.plan.rank() + near; ++k)
    put_congruent(near_reach(of).at(dst, k < near ? k : k - near), dst, own.bytes, me);
}

/// A reduce(), meetings and all: within the domains, across, and within again.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void reduce_by_domains(const domain_call* call, const G& g, const Op& op) {
  meet_again(call, g, operation::reduce);
  reduce_within<T>(call, op, share_of(g));
  meet_again(call, g, operation::reduce);
  routed_job across;
  make_job_across(call, &across);
  fold_by_any_route<fold_result::whole, T>(&across, g, op);
  meet_again(call, g, operation::reduce);
  spread_whole(call, share_of(g));
  meet_again(call, g, operation::reduce);
}

}  // namespace pgas::detail
