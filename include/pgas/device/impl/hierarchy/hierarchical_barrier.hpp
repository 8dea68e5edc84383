/// @file
/// The barrier of teams that span domains, used by `sync/barrier.hpp`, and the functions by which collectives find
/// domains and peers. Hierarchical barrier: a central counter in each domain, then messages between domains.
///
/// The members of a domain count their arrivals in a word at the domain's first member. The notifications of the other
/// domains are also in the memory of the domain's first member. Every member of the domain polls the notifications in
/// that memory. There are two algorithms:
///
/// * direct, for at most `most_direct_domains` domains: the last member to arrive notifies the first member of every
///   other domain. The total cost is one network latency, and D (D - 1) messages for D domains.
/// * dissemination, for more domains: in each round r = 0, 1, ... with 2^r < D, domain d notifies domain (d + 2^r) mod
///   D. The last member to arrive sends the message of round 0. The first waiting member that sees the message of round
///   r sends its domain's message of round r + 1. The total cost is log2 D network latencies, and D log2 D messages.
///
/// An arrival does not wait, so that the two halves of a barrier can be separate calls. With dissemination, a domain
/// sends the messages of later rounds only while one of its members waits.
///
/// The messages set words and do not add to words, so the target needs no atomic operation. Each member sets separate
/// words, because only messages of the same PE arrive in order. If several members of a domain have set words, the
/// newest word is valid.
#pragma once

#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/wait.hpp"

namespace pgas::detail {

/// The memory order of an arrival: a relaxed arrival orders no memory, and a release orders all earlier accesses of the
/// group.
enum class arrival { relaxed, release };

/// The name of a barrier in failure records.
template <arrival Arrival>
inline constexpr operation barrier_operation = Arrival == arrival::release ? operation::barrier : operation::sync;

/// The two words of a member in this PE's barrier state: the number of the member's arrivals, and the number of this
/// PE's waits for the member. In a team that spans domains, `arrived` is used only at the first member of a domain. For
/// a member of this domain, `arrived` counts arrivals, and only failure records use this count. For a member of another
/// domain, `arrived` is the number of the newest barrier of which that member has notified this domain.
struct member_words {
  std::uint64_t arrived;
  std::uint64_t waited;
};

/// Address of member `i`'s words on this PE.
[[nodiscard]] PGAS_FN member_words* member_state(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<member_words*>(ctx.my_slot_ + team.channel_offset() + team_state_layout::arrived(i));
}
[[nodiscard]] PGAS_FN domain_words* domain_state(const context& ctx, const team_view& team) {
  return reinterpret_cast<domain_words*>(ctx.my_slot_ + team.channel_offset() +
                                         team_state_layout::domain(team.n_pes()));
}

/// A channel of a team in a world with proxied PEs. The struct contains only the data that out-of-line code needs, so
/// it takes few registers.
struct domain_channel {
  const routes* table;
  std::uintptr_t state;  ///< address of the channel's state in this PE's slot
  team_hierarchy hierarchy;
  std::uint32_t log2_stride;

  /// Whether some members are proxied. The result is the same on all members.
  [[nodiscard]] PGAS_FN bool spans_domains() const { return hierarchy.domains() > 1; }
  [[nodiscard]] PGAS_FN proxy_queue queue() const { return {table}; }
  [[nodiscard]] PGAS_FN domain_words* words() const {
    return reinterpret_cast<domain_words*>(state + team_state_layout::domain(hierarchy.members()));
  }
  /// The word on this PE for the arrivals, or for the newest notification, of member `k` of domain `d`.
  [[nodiscard]] PGAS_FN std::uint64_t* arrived(std::int32_t d, std::int32_t k) const {
    return reinterpret_cast<std::uint64_t*>(state + team_state_layout::arrived(hierarchy.member(d, k)));
  }
  /// The address of the copy of `local` that the first member of this PE's domain has.
  template <class T>
  [[nodiscard]] PGAS_FN T* at_first(T* local) const {
    const auto distance = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(hierarchy.slots()[0])) << log2_stride;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) + distance);
  }
};

/// The domain_channel of a team. *Callers* members of the team, in worlds with proxied PEs.
[[nodiscard]] PGAS_FN domain_channel domain_channel_of(const context& ctx, const team_view& team) {
  const std::uint64_t offset = team.state_offset_ + team_state_layout::plan(team.n_pes(), team.n_channels());
  return {ctx.routes_, ctx.my_slot_ + team.channel_offset(),
          team_hierarchy{reinterpret_cast<const std::int32_t*>(ctx.my_slot_ + offset)}, ctx.log2_stride_};
}

/// Whether a team may have proxied members. If the result is true, the caller must read team_hierarchy::domains() to
/// find out whether the team has proxied members.
[[nodiscard]] PGAS_FN bool may_span_domains(const context& ctx, const team_view& team) {
  return ctx.has_proxied() && team.n_pes() > 1;
}

/// Whether all members are direct. The result is the same on all members.
[[nodiscard]] PGAS_FN bool all_direct(const context& ctx, const team_view& team) {
  return !may_span_domains(ctx, team) || domain_channel_of(ctx, team).hierarchy.domains() == 1;
}

/// The peer map of a team in a world without proxied PEs.
[[nodiscard]] PGAS_FN peer_map peer_map_of(const context& ctx, const team_view& team) {
  const std::int32_t start = team.members_ == nullptr ? team.start_ : 0;
  return {team.members_, start - ctx.world_pe_, team.stride_, ctx.log2_stride_};
}
/// The peer map of those members of a team that are in this PE's domain.
[[nodiscard]] PGAS_FN peer_map domain_peer_map(const domain_channel& channel) {
  return {channel.hierarchy.slots(), 0, 0, channel.log2_stride};
}

/// The peer map of the members if all members are direct, in any world.
[[nodiscard]] PGAS_FN peer_map direct_peer_map(const context& ctx, const team_view& team) {
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY
    return domain_peer_map(domain_channel_of(ctx, team));
  return peer_map_of(ctx, team);
}

/// The participants of a collective, for out-of-line code. The struct is in memory, because registers are scarce.
struct participant {
  context ctx;
  team_view team;

  [[nodiscard]] PGAS_FN domain_channel channel() const { return domain_channel_of(ctx, team); }
};

/// Counts this PE's arrival. @return Whether the arrival completes the domain. If so, all earlier accesses of the
/// domain's members are visible.
[[nodiscard]] PGAS_COLD bool count_arrival(domain_channel channel) {
  const std::int32_t d = channel.hierarchy.mine();
  const std::int32_t rank = channel.hierarchy.rank();
  if (rank != 0) reduce<rmw::add>(channel.at_first(channel.arrived(d, rank)), std::uint64_t{1});
  const std::uint64_t before = fetch<rmw::add>(channel.at_first(&channel.words()->arrivals), std::uint64_t{1});
  fence_acquire();
  return before + 1 ==
         (load_relaxed(&channel.words()->waited) + 1) * static_cast<std::uint64_t>(channel.hierarchy.count(d));
}

/// The result of the first half of a barrier. `last`: this PE is the last PE of its domain, and must notify the other
/// domains.
enum class arrival_result : std::int32_t { not_hierarchical, counted, last };

/// The first half of a barrier. The function does not notify other domains. *Callers* all threads of the group. If
/// `Arrival` is release, the group's earlier commands must be complete.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD arrival_result count_group_arrival(domain_channel channel, G g) {
  if (!channel.spans_domains()) return arrival_result::not_hierarchical;
  g.sync();
  if constexpr (Arrival == arrival::release) {
    if (g.thread_rank() < threads_that_fence) fence_release();
  }
  if (g.thread_rank() == 0) store_relaxed(&channel.words()->notified, std::uint64_t{count_arrival(channel) ? 1u : 0u});
  g.sync();
  return load_relaxed(&channel.words()->notified) != 0 ? arrival_result::last : arrival_result::counted;
}

/// The largest number of domains that notify each other directly. On the host heap dissemination is faster from 24
/// domains on (docs/scaling.md). The number was not measured on GPUs.
inline constexpr std::int32_t most_direct_domains = 16;

/// Whether the domains of a team notify each other in rounds. The result is the same on all members.
[[nodiscard]] PGAS_FN bool notifies_in_rounds(team_hierarchy hierarchy) {
  return hierarchy.domains() > most_direct_domains;
}

/// Tells the first member of domain `d` that this PE's domain has completed barrier `due`, or a round of this barrier.
PGAS_FN void notify_domain(const domain_channel& channel, operation what, std::int32_t d, std::uint64_t due) {
  const proxy_queue queue = channel.queue();
  const std::uint64_t offset = queue.offset(channel.arrived(channel.hierarchy.mine(), channel.hierarchy.rank()));
  proxied_update(queue, {what, channel.hierarchy.world_pe(d, 0), offset}, atomic_update::set, datatype::u64, due);
}

/// A member's notifications to the domains `first`, `first + step`, ... The struct is in memory, because few registers
/// remain in functions that a kernel calls indirectly.
struct domain_notification {
  domain_channel channel;
  operation what;
  std::int32_t first;
  std::int32_t step;
  std::uint64_t due;  ///< number of the barrier
};

/// Selects the domains that one thread notifies if its PE is the last member of a domain to arrive: some of the other
/// domains or, with dissemination, the next domain.
PGAS_COLD void begin_notifications(domain_notification* call, std::int32_t rank, std::int32_t size) {
  const domain_channel& channel = call->channel;
  const bool rounds = notifies_in_rounds(channel.hierarchy);
  const std::int32_t domains = channel.hierarchy.domains();
  const std::int32_t next = channel.hierarchy.mine() + 1;
  call->first = !rounds ? rank : rank != 0 ? domains : next < domains ? next : 0;
  call->step = rounds ? domains : size;
  call->due = load_relaxed(&channel.words()->waited) + 1;
}

/// Notifies the first member of each selected domain. Omits this PE's domain.
PGAS_COLD void notify_domains(const domain_notification* call) {
  const domain_channel& channel = call->channel;
  const operation what = call->what;
  PGAS_ROLLED
  for (std::int32_t d = call->first; d < channel.hierarchy.domains(); d += call->step) {
    if (d != channel.hierarchy.mine()) notify_domain(channel, what, d, call->due);
  }
}

/// A thread's wait for a domain. The struct is in memory, so it occupies no registers during the report.
struct domain_wait {
  const participant* here;
  operation what;
  std::int32_t domain;
  std::int32_t step;   ///< distance to this thread's next domain; with dissemination, 2^r in round r
  std::int32_t sends;  ///< 1: before this wait, the PE sends the message of the round
  std::uint64_t due;   ///< number of the barrier
  wait_state now;
};

/// Records a missing member. In this PE's own domain, the record names the missing member. For another domain, the
/// record names the domain's first member. That member knows which member is missing, and writes its own record.
PGAS_COLD void report_absent(const domain_wait* wait) {
  const domain_channel channel = wait->here->channel();
  const std::int32_t d = wait->domain;
  std::int32_t k = d == channel.hierarchy.mine() ? channel.hierarchy.count(d) - 1 : 0;
  while (k > 0 && load_relaxed(channel.at_first(channel.arrived(d, k))) >= wait->due) --k;
  const std::uint64_t seen = k == 0 ? wait->due - 1 : load_relaxed(channel.at_first(channel.arrived(d, k)));
  report(wait->here->ctx, wait_record(wait->now, wait->what, channel.hierarchy.world_pe(d, k),
                                      channel.queue().offset(channel.arrived(d, k)), cmp::ge, wait->due, seen));
}

/// Whether domain `d` has arrived at barrier number `due`, according to the domain's first member.
[[nodiscard]] PGAS_FN bool domain_arrived(const domain_channel& channel, std::int32_t d, std::uint64_t due) {
  const auto count = static_cast<std::uint32_t>(channel.hierarchy.count(d));
  if (d == channel.hierarchy.mine()) return load_relaxed(channel.at_first(&channel.words()->arrivals)) >= due * count;
  std::int32_t k = channel.hierarchy.count(d) - 1;
  while (k >= 0 && load_relaxed(channel.at_first(channel.arrived(d, k))) < due) --k;
  return k >= 0;
}

/// Waits for the domain, within the limits of poll_until().
PGAS_COLD void await_domain(domain_wait* wait) {
  const domain_channel channel = wait->here->channel();
  const std::int32_t d = wait->domain;
  const std::uint64_t due = wait->due;
  wait_state now = wait->now;
  now.why = poll_until(channel.table->control, now, [&] { return domain_arrived(channel, d, due); });
  wait->now = now;
}

/// Begins the waits of a thread with the first domain of the thread's share. With dissemination, one thread waits:
/// first for the PE's own domain, then for the domain of each round. @return False if the thread waits for no domain.
[[nodiscard]] PGAS_COLD bool begin_waits(domain_wait* wait, std::int32_t rank, std::int32_t size) {
  const team_hierarchy hierarchy = wait->here->channel().hierarchy;
  const bool rounds = notifies_in_rounds(hierarchy);
  wait->domain = rounds ? hierarchy.mine() : rank;
  wait->step = rounds ? 0 : size;
  wait->sends = 0;
  return rank < (rounds ? 1 : hierarchy.domains());
}

/// Sends the message of a round to the domain that is `wait->step` domains further, unless another member of this PE's
/// domain sends the message. The message also orders the accesses of the domains from which messages have arrived.
PGAS_COLD void send_round(const domain_wait* wait) {
  const domain_channel channel = wait->here->channel();
  const std::uint64_t round = wait->due << 32 | static_cast<std::uint32_t>(wait->step);
  fence_acquire();
  fence_release();
  if (fetch<rmw::max>(channel.at_first(&channel.words()->rounds), round) >= round) return;
  const std::int32_t domains = channel.hierarchy.domains();
  const std::int32_t to = channel.hierarchy.mine() + wait->step;
  notify_domain(channel, wait->what, to < domains ? to : to - domains, wait->due);
}

/// Continues with the next domain of the thread's share. @return False after the last domain. With dissemination,
/// continues with the next round and sets `sends`: to 0 in round 0, because the last member to arrive sends the message
/// of round 0, and to 1 in all other rounds.
[[nodiscard]] PGAS_COLD bool next_wait(domain_wait* wait) {
  const team_hierarchy hierarchy = wait->here->channel().hierarchy;
  const std::int32_t domains = hierarchy.domains();
  if (!notifies_in_rounds(hierarchy)) {
    wait->domain += wait->step;
    return wait->domain < domains;
  }
  wait->step = wait->step != 0 ? 2 * wait->step : 1;
  const std::int32_t from = hierarchy.mine() - wait->step;
  wait->domain = from < 0 ? from + domains : from;
  wait->sends = wait->step > 1 ? 1 : 0;
  return wait->step < domains;
}

/// The result of the second half of a barrier.
enum class await_result : std::int32_t { not_hierarchical, complete, lost };

/// The first half of a barrier of a team that may span domains. @return False if the team needs another kind of
/// barrier. *Callers* all threads of the group.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD bool arrive_by_domains(const participant* here, G g) {
  const domain_channel channel = here->channel();
  const arrival_result result = count_group_arrival<Arrival>(channel, g);
  if (result == arrival_result::last) {
    domain_notification all{channel, barrier_operation<Arrival>, 0, 0, 0};
    begin_notifications(&all, static_cast<std::int32_t>(g.thread_rank()), static_cast<std::int32_t>(g.size()));
    notify_domains(&all);
  }
  return result != arrival_result::not_hierarchical;
}

/// The calling thread's share of the second half of a barrier: waits for some of the domains. @return
/// `not_hierarchical` if the team needs another kind of barrier. *Callers* all threads of the group.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_COLD await_result await_domains(const participant* here, G g, operation what) {
  const domain_channel channel = here->channel();
  if (!channel.spans_domains()) return await_result::not_hierarchical;
  domain_wait wait{here, what, 0, 0, 0, load_relaxed(&channel.words()->waited) + 1, {}};
  g.sync();
  if (g.thread_rank() == 0) store_relaxed(&channel.words()->waited, wait.due);
  bool more = begin_waits(&wait, static_cast<std::int32_t>(g.thread_rank()), static_cast<std::int32_t>(g.size()));
  for (; more; more = next_wait(&wait)) {
    if (wait.sends != 0) send_round(&wait);
    wait.now = {0, failure::none};
    for (;;) {
      await_domain(&wait);
      if (wait.now.why == failure::none) break;
      report_absent(&wait);
      if (wait.now.why != failure::asked) return await_result::lost;
    }
  }
  fence_acquire();
  return await_result::complete;
}

}  // namespace pgas::detail
