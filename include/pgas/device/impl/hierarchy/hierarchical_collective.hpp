/// @file
/// broadcast(), fcollect() and collect() of large messages in teams that span domains (used by `collective.hpp`), and
/// the byte ranges of domains (used by `hierarchical_reduce.hpp`). Hierarchical collectives: data crosses the network
/// once for each domain that receives the data, and the members of that domain share the transfer.
#pragma once

#include "pgas/device/impl/hierarchy/proxied_reduce.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// The smallest message, in bytes, for which a collective is hierarchical. From this size on, the time saved on the
/// network exceeds the cost of the additional barriers.
inline constexpr std::size_t by_domains_bytes = std::size_t{16} << 10;

/// Whether a collective of `bytes` bytes is hierarchical. The result is the same on all members.
[[nodiscard]] PGAS_COLD bool pays_by_domains(team_hierarchy hierarchy, std::size_t bytes) {
  return hierarchy.domains() > 1 && hierarchy.domains() < hierarchy.members() && bytes >= by_domains_bytes;
}
[[nodiscard]] PGAS_FN bool fits_hierarchy(const context& ctx, const team_view& team, std::size_t bytes) {
  return may_span_domains(ctx, team) && pays_by_domains(domain_channel_of(ctx, team).hierarchy, bytes);
}

/// The location of member `i`'s count on this PE.
[[nodiscard]] PGAS_FN std::uint64_t* value_word(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + team.channel_offset() +
                                          team_state_layout::value(team.n_pes(), i));
}

/// A call of a collective. The struct is in memory, because registers are scarce. The struct does not depend on the
/// element type, so there is one copy of most of the following code.
struct domain_call {
  participant here;
  std::byte* dst;
  const std::byte* src;
  std::size_t count;
  std::uint32_t element;  ///< size in bytes

  [[nodiscard]] PGAS_FN domain_channel channel() const { return here.channel(); }
  [[nodiscard]] PGAS_FN team_hierarchy hierarchy() const { return channel().hierarchy; }
  [[nodiscard]] PGAS_FN std::size_t bytes() const { return count * element; }
};
template <class T>
[[nodiscard]] PGAS_FN domain_call domain_call_of(const context& ctx, const team_view& team, T* dst, const T* src,
                                                 std::size_t count) {
  return {{ctx, team}, reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), count, sizeof(T)};
}

/// A range of bytes of the whole message.
struct byte_range {
  std::size_t begin;
  std::size_t bytes;
};
/// The part of member `k` of domain `d`, if the members of the domain divide the whole message among themselves. @param
/// alike an address with the same alignment on all members
[[nodiscard]] PGAS_OUTLINE_IN_UNIT byte_range range_in(const domain_call* call, const std::byte* alike, std::int32_t d,
                                                       std::int32_t k) {
  const partition all =
      domain_partition(reinterpret_cast<std::uintptr_t>(alike), call->element, call->count, call->hierarchy().count(d));
  return {all.start(k) * call->element, (all.start(k + 1) - all.start(k)) * call->element};
}
[[nodiscard]] PGAS_FN byte_range own_range(const domain_call* call, const std::byte* alike) {
  return range_in(call, alike, call->hierarchy().mine(), call->hierarchy().rank());
}

/// Calls collective_barrier() for the collective `call`.
template <PGAS_IS(group) G>
PGAS_OUTLINE void collective_barrier_of(const domain_call* call, G g, operation what) {
  collective_barrier(call->here.ctx, g, call->here.team, what);
}

/// Puts the range `where` to the members of this PE's domain. This PE comes last, and is omitted if `src` is this PE's
/// destination.
/// @param Unit alignment that the element type guarantees
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void put_in_domain(const domain_call* call, G g, byte_range where, const std::byte* src) {
  using unit = unit_word<Unit>;
  const domain_channel channel = call->channel();
  std::byte* const dst = call->dst + where.begin;
  const std::int32_t members = channel.hierarchy.count(channel.hierarchy.mine());
  const std::int32_t end = channel.hierarchy.rank() + members + (dst == src ? 0 : 1);
  for (std::int32_t k = channel.hierarchy.rank() + 1; k < end; ++k)
    copy<direction::put>(g, reinterpret_cast<unit*>(domain_peer_map(channel).at(dst, k < members ? k : k - members)),
                         reinterpret_cast<const unit*>(src), where.bytes / Unit);
}
/// Calls put_in_domain() with this PE's destination as the source.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_FN void put_own_range(const domain_call* call, const G& g, byte_range where) {
  put_in_domain<Unit>(call, g, where, call->dst + where.begin);
}

/// Puts the range `where` to a member's destination through the proxy. The barrier at the end of the collective
/// completes the put.
template <PGAS_IS(group) G>
PGAS_FN void put_proxied(const domain_call* call, const G& g, byte_range where, const std::byte* src,
                         std::int32_t proxied_pe) {
  const proxied_copy put{proxy_queue_of(call->here.ctx), proxied_pe, call->dst + where.begin, src, where.bytes,
                         completion::submitted};
  proxied_put(&put, g);
}

/// Sends to each member of every other domain the member's range of the root's elements.
template <PGAS_IS(group) G>
PGAS_COLD void scatter_to_domains(const domain_call* call, G g) {
  const team_hierarchy hierarchy = call->hierarchy();
  for (std::int32_t d = 0; d < hierarchy.domains(); ++d) {
    for (std::int32_t k = 0; d != hierarchy.mine() && k < hierarchy.count(d); ++k) {
      const byte_range part = range_in(call, call->dst, d, k);
      put_proxied(call, g, part, call->src + part.begin, hierarchy.world_pe(d, k));
    }
  }
}

/// Whether a member is in this PE's domain.
[[nodiscard]] PGAS_COLD bool in_own_domain(team_hierarchy hierarchy, std::int32_t member) {
  std::int32_t k = hierarchy.count(hierarchy.mine()) - 1;
  while (k >= 0 && hierarchy.member(hierarchy.mine(), k) != member) --k;
  return k >= 0;
}

/// A broadcast() without its last barrier: in every other domain, each member receives its range from the root and puts
/// the range to the other members of the domain.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void broadcast_by_domains(const domain_call* call, G g, std::int32_t root) {
  if (call->here.team.my_pe() == root) {
    sync_unless_lockstep(g);
    scatter_to_domains(call, g);
    put_in_domain<Unit>(call, g, {0, call->bytes()}, call->src);
  }
  collective_barrier_of(call, g, operation::broadcast);
  if (!in_own_domain(call->hierarchy(), root)) put_own_range<Unit>(call, g, own_range(call, call->dst));
}

/// The range of a member's elements in the result, according to the members' counts; for fcollect() all counts are
/// equal.
[[nodiscard]] PGAS_COLD byte_range block_of(const domain_call* call, operation what, std::int32_t member) {
  if (what == operation::fcollect) return {static_cast<std::size_t>(member) * call->bytes(), call->bytes()};
  std::size_t before = 0;
  for (std::int32_t i = 0; i < member; ++i) before += load_relaxed(value_word(call->here.ctx, call->here.team, i));
  return {before * call->element, load_relaxed(value_word(call->here.ctx, call->here.team, member)) * call->element};
}
/// The sum of all members' counts.
[[nodiscard]] PGAS_FN std::uint64_t sum_of_values(const context& ctx, const team_view& team) {
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < team.n_pes(); ++i) sum += load_relaxed(value_word(ctx, team, i));
  return sum;
}

/// Sends this member's elements to one member of every other domain.
template <PGAS_IS(group) G>
PGAS_COLD void send_across(const domain_call* call, G g, byte_range own) {
  const team_hierarchy hierarchy = call->hierarchy();
  for (std::int32_t d = 0; d < hierarchy.domains(); ++d) {
    if (d != hierarchy.mine())
      put_proxied(call, g, own, call->src, hierarchy.world_pe(d, hierarchy.rank() % hierarchy.count(d)));
  }
}

/// Iterates over the members of other domains that have sent elements to this member.
struct received {
  const domain_call* call;
  operation what;
  std::int32_t domain;
  std::int32_t k;    ///< the index of the next member in the domain
  byte_range block;  ///< range of the previous member
};
/// Moves to the next member. @return False after the last member.
[[nodiscard]] PGAS_COLD bool next_received(received* at) {
  const team_hierarchy hierarchy = at->call->hierarchy();
  while (at->domain == hierarchy.mine() || at->k >= hierarchy.count(at->domain)) {
    if (++at->domain >= hierarchy.domains()) return false;
    at->k = hierarchy.rank();
  }
  at->block = block_of(at->call, at->what, hierarchy.member(at->domain, at->k));
  at->k += hierarchy.count(hierarchy.mine());
  return true;
}

/// Puts the elements received from other domains to the members of this domain. (The iterator is in memory, because
/// registers are scarce.)
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void put_received(const domain_call* call, G g, operation what) {
  received at{call, what, 0, call->hierarchy().rank(), {}};
  while (next_received(&at)) put_own_range<Unit>(at.call, g, at.block);
}

/// An fcollect() or collect() without its last barrier.
template <std::size_t Unit, PGAS_IS(group) G>
PGAS_COLD void gather_by_domains(const domain_call* call, G g, operation what) {
  const byte_range own = block_of(call, what, call->here.team.my_pe());
  send_across(call, g, own);
  put_in_domain<Unit>(call, g, own, call->src);
  collective_barrier_of(call, g, what);
  put_received<Unit>(call, g, what);
}

}  // namespace pgas::detail
