/// @file
/// Exchanges of packets: how collectives move few bytes.
///
/// An *exchange* is a collective in which every member sends each other one at least one packet, of the team's channel
/// 0, or of the host's: each of the two has packets and a count of its own. Exchanges are counted in device memory by
/// each member for itself; as all make the same calls, their counts agree. Packets are written over those of the
/// exchange before the last, as there is room for two, and never cleared. That is safe: a member M writes the packets
/// of exchange k over those of k - 2 when it has seen a packet of k - 1 from every other member P. P sent it when all
/// threads of its group had come to exchange k - 1, that is, had found all packets of k - 2 that P was sent. So nothing
/// that M writes over is still waited for, whoever's packet lay there: messages may have another length, and lie
/// elsewhere, in each exchange. A packet of k - 2 or earlier is not taken for one of k, as its number is another one;
/// before numbers of 32 bits come again, all packets are cleared (reset_ll_packets()). What else the members do on the
/// channel in between - barriers, collectives by other ways - neither reads nor writes packets or the count. Other
/// collectives, and different kinds of exchanges, may follow one another in any order.
///
/// An exchange says nothing about other memory. When a member goes on, all others have called; what they wrote
/// elsewhere need not be visible.
#pragma once

#include "pgas/device/impl/hierarchy/proxied_reduce.hpp"
#include "pgas/device/impl/ll/ll_packet.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// This PE's count of exchanges; the packets lie a line behind it.
[[nodiscard]] PGAS_FN std::uint32_t* ll_counter(const context& ctx, const team_view& team) {
  return reinterpret_cast<std::uint32_t*>(ctx.my_slot_ + team.state_offset_ +
                                          team_layout::packets(team.n_pes(), team.n_channels(), team.channel_ != 0));
}
/// Bytes of the packets of one exchange.
[[nodiscard]] PGAS_FN std::uint64_t packets_bytes(const team_view& team) {
  return team_layout::packets_bytes(team.channel_ != 0);
}

/// Whether members of a collective exchange packets: there is room for them, and all reach each other by load and
/// store. The same on all members, as it depends on the team and on the size of the messages alone.
[[nodiscard]] PGAS_FN bool fits_ll(const context& ctx, const team_view& team, std::uint64_t units) {
  const auto n = static_cast<std::uint64_t>(team.n_pes());
  const std::uint64_t room = packets_bytes(team) / ll_unit_packed_bytes;
  if ((team.channel_ != 0 && team.channel_ != team.n_channels()) || n < 2 || units == 0 || units > room ||
      units * n > room)
    return false;
  return all_direct(ctx, team);
}

/// An exchange as one thread sees it. The number is asked for by who makes a share of the exchange, with the data that
/// it will send: so that the two loads are under way together.
struct ll_epoch {
  std::uintptr_t packets;  ///< this PE's
  peer_map peers;
  const control_block* control;
  std::int32_t members;
  std::int32_t me;
  std::uint32_t room;   ///< packets_bytes()
  std::uint32_t units;  ///< of each message
  std::uint32_t epoch;  ///< 0 before it was asked for

  PGAS_FN void load_epoch() { epoch = load_relaxed(reinterpret_cast<std::uint32_t*>(packets - team_layout::line)); }
  /// Where member `from`'s message lies in this PE's slot.
  [[nodiscard]] PGAS_FN std::uintptr_t message(std::int32_t from) const {
    return packets + (epoch & 1) * std::uint64_t{room} +
           static_cast<std::uint64_t>(from) * units * ll_unit_packed_bytes;
  }
  /// The first packet of its unit `u`; the second one lies `units` packets behind.
  [[nodiscard]] PGAS_FN vec16* packet(std::int32_t from, std::uint32_t u) const {
    return reinterpret_cast<vec16*>(message(from)) + u;
  }
  /// The member `i` places behind this one, 1 <= i < members.
  [[nodiscard]] PGAS_FN std::int32_t other(std::int32_t i) const { return member_behind(me, i, members); }
};
[[nodiscard]] PGAS_FN ll_epoch ll_epoch_of(const context& ctx, const team_view& team, std::uint64_t units,
                                           std::uint32_t epoch) {
  return {reinterpret_cast<std::uintptr_t>(ll_counter(ctx, team)) + team_layout::line,
          direct_peer_map(ctx, team),
          ctx.control_,
          team.n_pes(),
          team.my_pe(),
          static_cast<std::uint32_t>(packets_bytes(team)),
          static_cast<std::uint32_t>(units),
          epoch};
}

/// Writes unit `u` of this PE's message to a member.
PGAS_FN void send_ll_unit(const ll_epoch& now, std::int32_t member, std::uint32_t u, const vec16& data) {
  send_ll_unit(now.peers.at(now.packet(now.me, u), member), now.units, now.epoch, data);
}

/// Waits for some units of whichever members.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_ll_units(const ll_epoch& now, const vec16* const (&at)[Batch],
                                             vec16 (&data)[Batch]) {
  return await_ll_units(now.control, at, now.units, now.epoch, data);
}

/// How an exchange ended for one thread: which unit of whose message did not come, of all members' if `from` is -1.
struct ll_result {
  failure why;
  std::uint32_t unit;
  std::int32_t from;
  std::uint32_t epoch;  ///< of the exchange
};

/// Says whose packet did not come.
PGAS_COLD void report_lost_ll_packet(context ctx, team_view team, operation what, std::uint64_t units, ll_result end) {
  const std::uint32_t epoch = end.epoch;
  const ll_epoch now = ll_epoch_of(ctx, team, units, epoch);
  for (std::int32_t i = 0; i < team.n_pes(); ++i) {
    if (i == team.my_pe() || (end.from >= 0 && end.from != i)) continue;
    const vec16* const packet = now.packet(i, end.unit);
    const std::uint32_t seen = epoch_seen(packet, now.units, epoch);
    if (seen == epoch) continue;
    report(ctx, lost_wait(end.why, what, team.world_pe(i), ctx.offset(packet), cmp::eq, epoch, seen));
    return;
  }
  report(ctx, lost_wait(end.why, what, -1, team.channel_offset(), cmp::eq, epoch, epoch));
}

/// Numbers start again at 1: nothing is left of those that were. Collective, once in 2^32 exchanges.
template <PGAS_IS(group) G>
PGAS_COLD void reset_ll_packets(context ctx, G g, team_view team, operation what) {
  std::uint32_t* const count = ll_counter(ctx, team);
  if (g.thread_rank() == 0) store_relaxed(count, 0u);
  auto* const packets = reinterpret_cast<std::byte*>(count) + team_layout::line;
  const auto step = static_cast<std::uint64_t>(g.size()) * 16;
  for (std::uint64_t at = static_cast<std::uint64_t>(g.thread_rank()) * 16; at < 2 * packets_bytes(team); at += step)
    store_relaxed(reinterpret_cast<vec16*>(packets + at), vec16{});
  collective_barrier(ctx, g, team, what);  // nobody sends before all have cleared
}

/// An exchange by all threads of a group: `exchange` makes a thread's share of it, and says how it ended. What the
/// group's threads did before is done when it begins; when this returns, all its threads are through.
template <PGAS_IS(group) G, class Exchange>
PGAS_FN void ll_exchange(const context& ctx, const G& g, const team_view& team, std::uint64_t units, operation what,
                         const Exchange& exchange) {
  // One thread counts before the others read: they have all read before, as they were through.
  std::uint32_t* const count = ll_counter(ctx, team);
  if (g.thread_rank() == 0) reduce<rmw::add>(count, 1u);
  g.sync();
  const ll_result end = exchange(ll_epoch_of(ctx, team, units, 0));
  if (end.why != failure::none) PGAS_UNLIKELY
    report_lost_ll_packet(ctx, team, what, units, end);
  exit_if_any(g, end.why != failure::none);
  if (end.epoch == ~std::uint32_t{0}) PGAS_UNLIKELY
    reset_ll_packets(ctx, g, team, what);
}

}  // namespace pgas::detail
