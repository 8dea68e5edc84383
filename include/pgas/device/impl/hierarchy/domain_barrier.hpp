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
inline constexpr operation meeting = Arrival == arrival::release ? operation::barrier : operation::sync;

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
  team_hierarchy plan;
  std::uint32_t log2_stride;

  /// Whether members are proxied; the same on all of them.
  [[nodiscard]] PGAS_FN bool spans_domains() const { return plan.domains() > 1; }
  [[nodiscard]] PGAS_FN sender from() const { return {table}; }
  [[nodiscard]] PGAS_FN domain_words* words() const {
    return reinterpret_cast<domain_words*>(state + team_layout::domain(plan.members()));
  }
  /// What member `k` of domain `d` has told, or counted, here.
  [[nodiscard]] PGAS_FN std::uint64_t* arrived(std::int32_t d, std::int32_t k) const {
    return reinterpret_cast<std::uint64_t*>(state + team_layout::arrived(plan.member(d, k)));
  }
  /// Where the first member of this PE's domain has what this PE has at `local`.
  template <class T>
  [[nodiscard]] PGAS_FN T* at_first(T* local) const {
    const auto distance = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(plan.slots()[0])) << log2_stride;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance);
  }
};

/// *Callers* in worlds with proxied PEs, members of the team.
[[nodiscard]] PGAS_FN domain_channel domain_channel_of(const context& ctx, const team_view& team) {
  const std::uint64_t plan = team.state_offset_ + team_layout::plan(team.n_pes(), team.n_channels());
  return {ctx.routes_, ctx.my_slot_ + team.channel_offset(),
          team_hierarchy{reinterpret_cast<const std::int32_t*>(ctx.my_slot_ + plan)}, ctx.log2_stride_};
}

/// Whether there may be proxied ones among the members of a team: then it has a plan, which says so.
[[nodiscard]] PGAS_FN bool may_span_domains(const context& ctx, const team_view& team) {
  return ctx.has_proxied() && team.n_pes() > 1;
}

/// Whether all members reach each other by load and store: the same on all of them.
[[nodiscard]] PGAS_FN bool all_near(const context& ctx, const team_view& team) {
  return !may_span_domains(ctx, team) || domain_channel_of(ctx, team).plan.domains() == 1;
}

/// Who is in a collective, for what is not in line: in memory, as there would be no registers for it.
struct participant {
  context ctx;
  team_view team;

  [[nodiscard]] PGAS_FN domain_channel channel() const { return domain_channel_of(ctx, team); }
};

/// Counts this PE's arrival. Whether its domain is complete by it: then what all its members did before is visible.
[[nodiscard]] PGAS_COLD bool count_arrival(domain_channel of) {
  const std::int32_t d = of.plan.mine();
  const std::int32_t rank = of.plan.rank();
  if (rank != 0) reduce<rmw::add>(of.at_first(of.arrived(d, rank)), std::uint64_t{1});
  const std::uint64_t before = fetch<rmw::add>(of.at_first(&of.words()->came), std::uint64_t{1});
  fence_acquire();
  return before + 1 == (load_relaxed(&of.words()->waited) + 1) * static_cast<std::uint64_t>(of.plan.count(d));
}

/// How the first half of a barrier went: this team meets otherwise, this PE is counted, or it was the last of its
/// domain and the others are to be told.
enum class arrived_as : std::int32_t { otherwise, one, last };

/// The first half of a barrier but for telling, once what went to the proxy before is complete.
/// *Callers* all threads of the group.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD arrived_as count_together(domain_channel of, G g) {
  if (!of.spans_domains()) return arrived_as::otherwise;
  g.sync();
  if constexpr (Arrival == arrival::release) {
    if (g.thread_rank() < 32) fence_release();
  }
  if (g.thread_rank() == 0) store_relaxed(&of.words()->told, std::uint64_t{count_arrival(of) ? 1u : 0u});
  g.sync();
  return load_relaxed(&of.words()->told) != 0 ? arrived_as::last : arrived_as::one;
}

/// What the last one of a domain to come says, and which of its threads says it: in memory, as there are few registers
/// this deep below a kernel.
struct telling {
  domain_channel of;
  operation what;
  std::int32_t rank;
  std::int32_t size;
};

/// One thread's share of telling the first members of the other domains that this PE's is there.
PGAS_COLD void tell_domains(const telling* what_to) {
  const domain_channel& of = what_to->of;
  const operation what = what_to->what;
  PGAS_ROLLED
  for (std::int32_t d = what_to->rank; d < of.plan.domains(); d += what_to->size) {
    if (d == of.plan.mine()) continue;
    const sender from = of.from();
    const ring_place place = reserve_slot(from, {what, of.plan.world_pe(d, 0), 0});
    if (place.slot == nullptr) end_thread();
    fill(place.slot, command_kind::atomic, atomic_update::set, datatype::u64,
         {what, of.plan.world_pe(d, 0), from.offset(of.arrived(of.plan.mine(), of.plan.rank()))}, 0,
         sizeof(std::uint64_t), no_answer);
    fill(place.slot->value, load_relaxed(&of.words()->waited) + 1, 0);
    release(place);
  }
}

/// Says who is missing at barrier number `due`: of this PE's own domain a member, of another one its first. (More is
/// known there, and recorded.)
PGAS_COLD void report_absent(domain_channel of, operation what, failure why, std::int32_t d, std::uint64_t due) {
  std::int32_t k = d == of.plan.mine() ? of.plan.count(d) - 1 : 0;
  while (k > 0 && load_relaxed(of.at_first(of.arrived(d, k))) >= due) --k;
  const std::uint64_t seen = k == 0 ? due - 1 : load_relaxed(of.at_first(of.arrived(d, k)));
  report_errand(of.from(), {what, of.plan.world_pe(d, k), of.from().offset(of.arrived(d, k))}, why, due, seen);
}

/// Whether domain `d` is at barrier number `due`, as its first member knows.
[[nodiscard]] PGAS_FN bool domain_came(const domain_channel& of, std::int32_t d, std::uint64_t due) {
  const auto count = static_cast<std::uint32_t>(of.plan.count(d));
  if (d == of.plan.mine()) return load_relaxed(of.at_first(&of.words()->came)) >= due * count;
  std::int32_t k = of.plan.count(d) - 1;
  while (k >= 0 && load_relaxed(of.at_first(of.arrived(d, k))) < due) --k;
  return k >= 0;
}

/// How the second half of a barrier went.
enum class awaited : std::int32_t { otherwise, complete, lost };

/// The first half of a barrier of a team that may span domains. False if it meets otherwise.
/// *Callers* all threads of the group.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD bool arrive_by_domains(const participant* here, G g) {
  const domain_channel of = here->channel();
  const arrived_as came = count_together<Arrival>(of, g);
  if (came == arrived_as::last) {
    const telling all{of, meeting<Arrival>, static_cast<std::int32_t>(g.thread_rank()),
                      static_cast<std::int32_t>(g.size())};
    tell_domains(&all);
  }
  return came != arrived_as::otherwise;
}

/// The calling thread's share of the second half; `otherwise` if that is not how this team meets.
/// *Callers* all threads of the group.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD awaited await_domains(const participant* here, G g, operation what) {
  const domain_channel of = here->channel();
  if (!of.spans_domains()) return awaited::otherwise;
  const std::uint64_t due = load_relaxed(&of.words()->waited) + 1;
  g.sync();
  if (g.thread_rank() == 0) store_relaxed(&of.words()->waited, due);
  for (auto d = static_cast<std::int32_t>(g.thread_rank()); d < of.plan.domains();
       d += static_cast<std::int32_t>(g.size())) {
    const failure why = poll_until(of.table->control, [&] { return domain_came(of, d, due); });
    if (why != failure::none) PGAS_UNLIKELY {
      report_absent(of, what, why, d, due);
      return awaited::lost;
    }
  }
  fence_acquire();
  return awaited::complete;
}

}  // namespace pgas::detail
