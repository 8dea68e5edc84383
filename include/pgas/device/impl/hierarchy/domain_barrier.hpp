/// @file
/// The barrier of teams whose members do not all reach each other by load and store: the members of a domain count
/// their arrivals in one word at the first of them; whoever makes it complete tells the first member of every other
/// domain, and everybody waits for what its domain's first member has been told. One message from each domain to each
/// other one, and one flight over the network.
///
/// Arriving never waits, and nobody depends on what others do after they have arrived, as the two halves of a barrier
/// promise. That is why domains tell each other directly: rounds over a tree or a hypercube would save messages, but
/// somebody would have to wait between them.
///
/// Words that the network carries are set, not added to: a target needs no atomic operation for that. Each member has
/// words of its own to set, as only what one PE sends arrives in order; one of a domain's is as new as the barrier.
#pragma once

#include "pgas/device/impl/proxy/proxied_ops.hpp"
#include "pgas/device/impl/sync/wait.hpp"

namespace pgas::detail {

/// What an arrival carries: nothing, or all that the group did before.
enum class arrival { relaxed, release };

/// What a barrier is called in records.
template <arrival Arrival>
inline constexpr operation barrier_operation = Arrival == arrival::release ? operation::barrier : operation::sync;

/// The two words that a member has in this PE's barrier state. At the first member of a domain `arrived` is also what
/// the member has told for its domain; or, if it is one of the same domain, how often it has come, for records.
struct member_words {
  std::uint64_t arrived;
  std::uint64_t waited;
};

/// Address of member `i`'s words here.
[[nodiscard]] PGAS_FN member_words* member_state(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<member_words*>(ctx.my_slot_ + team.channel_offset() + team_layout::arrived(i));
}
[[nodiscard]] PGAS_FN domain_words* domain_state(const context& ctx, const team_view& team) {
  return reinterpret_cast<domain_words*>(ctx.my_slot_ + team.channel_offset() + team_layout::domain(team.n_pes()));
}

/// A channel of a team in a world with proxied PEs: what out of line code needs to know of it, in few registers.
struct domain_channel {
  const routes* table;
  std::uintptr_t state;  ///< of the channel, in this PE's slot
  team_hierarchy hierarchy;
  std::uint32_t log2_stride;

  /// Whether members are proxied; the same on all of them.
  [[nodiscard]] PGAS_FN bool spans_domains() const { return hierarchy.domains() > 1; }
  [[nodiscard]] PGAS_FN proxy_queue queue() const { return {table}; }
  [[nodiscard]] PGAS_FN domain_words* words() const {
    return reinterpret_cast<domain_words*>(state + team_layout::domain(hierarchy.members()));
  }
  /// What member `k` of domain `d` has told, or counted, here.
  [[nodiscard]] PGAS_FN std::uint64_t* arrived(std::int32_t d, std::int32_t k) const {
    return reinterpret_cast<std::uint64_t*>(state + team_layout::arrived(hierarchy.member(d, k)));
  }
  /// Where the first member of this PE's domain has what this PE has at `local`.
  template <class T>
  [[nodiscard]] PGAS_FN T* at_first(T* local) const {
    const auto distance = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(hierarchy.slots()[0])) << log2_stride;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance);
  }
};

/// *Callers* in worlds with proxied PEs, members of the team.
[[nodiscard]] PGAS_FN domain_channel domain_channel_of(const context& ctx, const team_view& team) {
  const std::uint64_t offset = team.state_offset_ + team_layout::plan(team.n_pes(), team.n_channels());
  return {ctx.routes_, ctx.my_slot_ + team.channel_offset(),
          team_hierarchy{reinterpret_cast<const std::int32_t*>(ctx.my_slot_ + offset)}, ctx.log2_stride_};
}

/// Whether there may be proxied ones among the members of a team: then it has a plan, which says so.
[[nodiscard]] PGAS_FN bool may_span_domains(const context& ctx, const team_view& team) {
  return ctx.has_proxied() && team.n_pes() > 1;
}

/// Whether all members reach each other by load and store: the same on all of them.
[[nodiscard]] PGAS_FN bool all_direct(const context& ctx, const team_view& team) {
  return !may_span_domains(ctx, team) || domain_channel_of(ctx, team).hierarchy.domains() == 1;
}

/// Who is in a collective, for what is not in line: in memory, as there would be no registers for it.
struct participant {
  context ctx;
  team_view team;

  [[nodiscard]] PGAS_FN domain_channel channel() const { return domain_channel_of(ctx, team); }
};

/// Counts this PE's arrival. Whether its domain is complete by it: then what all its members did before is visible.
[[nodiscard]] PGAS_COLD bool count_arrival(domain_channel of) {
  const std::int32_t d = of.hierarchy.mine();
  const std::int32_t rank = of.hierarchy.rank();
  if (rank != 0) reduce<rmw::add>(of.at_first(of.arrived(d, rank)), std::uint64_t{1});
  const std::uint64_t before = fetch<rmw::add>(of.at_first(&of.words()->arrivals), std::uint64_t{1});
  fence_acquire();
  return before + 1 == (load_relaxed(&of.words()->waited) + 1) * static_cast<std::uint64_t>(of.hierarchy.count(d));
}

/// How the first half of a barrier went: this team meets otherwise, this PE is counted, or it was the last of its
/// domain and the others are to be told.
enum class arrival_result : std::int32_t { not_hierarchical, counted, last };

/// The first half of a barrier but for telling, once what went to the proxy before is complete.
/// *Callers* all threads of the group.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD arrival_result count_group_arrival(domain_channel of, G g) {
  if (!of.spans_domains()) return arrival_result::not_hierarchical;
  g.sync();
  if constexpr (Arrival == arrival::release) {
    if (g.thread_rank() < 32) fence_release();
  }
  if (g.thread_rank() == 0) store_relaxed(&of.words()->notified, std::uint64_t{count_arrival(of) ? 1u : 0u});
  g.sync();
  return load_relaxed(&of.words()->notified) != 0 ? arrival_result::last : arrival_result::counted;
}

/// What the last one of a domain to come says, and which of its threads says it: in memory, as there are few registers
/// this deep below a kernel.
struct domain_notification {
  domain_channel of;
  operation what;
  std::int32_t rank;
  std::int32_t size;
};

/// One thread's share of telling the first members of the other domains that this PE's is there.
PGAS_COLD void notify_domains(const domain_notification* call) {
  const domain_channel& of = call->of;
  const operation what = call->what;
  PGAS_ROLLED
  for (std::int32_t d = call->rank; d < of.hierarchy.domains(); d += call->size) {
    if (d == of.hierarchy.mine()) continue;
    const proxy_queue queue = of.queue();
    const reserved_slot reserved = reserve_slot(queue, {what, of.hierarchy.world_pe(d, 0), 0});
    if (reserved.slot == nullptr) end_thread();
    fill(reserved.slot, command_kind::atomic, atomic_update::set, datatype::u64,
         {what, of.hierarchy.world_pe(d, 0), queue.offset(of.arrived(of.hierarchy.mine(), of.hierarchy.rank()))}, 0,
         sizeof(std::uint64_t), no_answer);
    fill(reserved.slot->value, load_relaxed(&of.words()->waited) + 1, 0);
    publish(reserved);
  }
}

/// Says who is missing at barrier number `due`: of this PE's own domain a member, of another one its first. (More is
/// known there, and recorded.)
PGAS_COLD void report_absent(domain_channel of, operation what, failure why, std::int32_t d, std::uint64_t due) {
  std::int32_t k = d == of.hierarchy.mine() ? of.hierarchy.count(d) - 1 : 0;
  while (k > 0 && load_relaxed(of.at_first(of.arrived(d, k))) >= due) --k;
  const std::uint64_t seen = k == 0 ? due - 1 : load_relaxed(of.at_first(of.arrived(d, k)));
  report_proxy_failure(of.queue(), {what, of.hierarchy.world_pe(d, k), of.queue().offset(of.arrived(d, k))}, why, due,
                       seen);
}

/// Whether domain `d` is at barrier number `due`, as its first member knows.
[[nodiscard]] PGAS_FN bool domain_arrived(const domain_channel& of, std::int32_t d, std::uint64_t due) {
  const auto count = static_cast<std::uint32_t>(of.hierarchy.count(d));
  if (d == of.hierarchy.mine()) return load_relaxed(of.at_first(&of.words()->arrivals)) >= due * count;
  std::int32_t k = of.hierarchy.count(d) - 1;
  while (k >= 0 && load_relaxed(of.at_first(of.arrived(d, k))) < due) --k;
  return k >= 0;
}

/// How the second half of a barrier went.
enum class await_result : std::int32_t { not_hierarchical, complete, lost };

/// The first half of a barrier of a team that may span domains. False if it meets otherwise.
/// *Callers* all threads of the group.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD bool arrive_by_domains(const participant* here, G g) {
  const domain_channel of = here->channel();
  const arrival_result result = count_group_arrival<Arrival>(of, g);
  if (result == arrival_result::last) {
    const domain_notification all{of, barrier_operation<Arrival>, static_cast<std::int32_t>(g.thread_rank()),
                                  static_cast<std::int32_t>(g.size())};
    notify_domains(&all);
  }
  return result != arrival_result::not_hierarchical;
}

/// The calling thread's share of the second half; `otherwise` if that is not how this team meets.
/// *Callers* all threads of the group.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD await_result await_domains(const participant* here, G g, operation what) {
  const domain_channel of = here->channel();
  if (!of.spans_domains()) return await_result::not_hierarchical;
  const std::uint64_t due = load_relaxed(&of.words()->waited) + 1;
  g.sync();
  if (g.thread_rank() == 0) store_relaxed(&of.words()->waited, due);
  for (auto d = static_cast<std::int32_t>(g.thread_rank()); d < of.hierarchy.domains();
       d += static_cast<std::int32_t>(g.size())) {
    const failure why = poll_until(of.table->control, [&] { return domain_arrived(of, d, due); });
    if (why != failure::none) PGAS_UNLIKELY {
      report_absent(of, what, why, d, due);
      return await_result::lost;
    }
  }
  fence_acquire();
  return await_result::complete;
}

}  // namespace pgas::detail
