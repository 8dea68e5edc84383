/// @file
/// Exchanges of LL packets, by which collectives move small messages without a barrier. Used by `ll_reduce.hpp` and
/// `ll_collective.hpp`. The exchanges use the LL protocol with two alternating buffers. The epoch in the packets makes
/// a reset unnecessary.
///
/// In an *exchange* every member sends at least one packet to every other member. An exchange uses the team's channel 0
/// or the host's channel. Blocks of a kernel that the host enqueues can have exchanges of their own if the team has a
/// oneshot_staging. Each of these exchanges has its own packets and its own epoch. Each member counts its exchanges in
/// device memory. All members make the same calls, so their epochs agree.
///
/// There are two buffers, so the packets of epoch k overwrite the packets of epoch k - 2, which are never cleared. The
/// overwriting is safe. A member M writes packets of epoch k after it has seen a packet of epoch k - 1 from every other
/// member P. P sent that packet after all threads of P's group had entered epoch k - 1. These threads had therefore
/// received all packets of epoch k - 2. So no thread still waits for a packet that M overwrites, even if message
/// lengths, and therefore locations, differ between epochs. A packet of epoch k - 2 or older is never taken for a
/// packet of epoch k, because the epoch in the packet is not k. All packets are cleared before the 32-bit epochs repeat
/// (reset_ll_packets()). Barriers and other algorithms on the channel change neither packets nor epoch, so all kinds of
/// collectives may follow one another in any order.
///
/// An exchange orders no other memory. When a member returns, all other members have made the call, but earlier stores
/// of the other members to other memory are not necessarily visible.
#pragma once

#include "pgas/device/impl/ll/ll_packet.hpp"
#include "pgas/device/impl/sync/barrier.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The view of a team that one block of a kernel uses, if the host enqueues the kernel and the team has a
/// oneshot_staging.
struct block_view : team_view {
  PGAS_FN block_view(const team_view& team, std::uint32_t which) : team_view(team.of_block(which)) {}
};

/// The location of this PE's epoch. The packets start one line after the epoch.
[[nodiscard]] PGAS_FN std::uint32_t* ll_counter(const context& ctx, const team_view& team) {
  return reinterpret_cast<std::uint32_t*>(
      ctx.my_slot_ + team.state_offset_ +
      team_state_layout::packets(team.n_pes(), team.n_channels(), team.channel_ != 0));
}
/// The location of a block's epoch.
[[nodiscard]] PGAS_FN std::uint32_t* ll_counter(const context& ctx, const block_view& team) {
  return reinterpret_cast<std::uint32_t*>(ctx.my_slot_ + team.staging_offset_ +
                                          oneshot_staging::packets(team.channel_ - team.n_channels() - 1));
}
/// Bytes of the packets of one epoch.
[[nodiscard]] PGAS_FN std::uint64_t packet_buffer_bytes(const team_view& team) {
  return team_state_layout::packet_buffer_bytes(team.channel_ != 0);
}

/// Whether all members are direct, and the messages of a collective fit into the packets of the channel. The channel
/// must have packets.
[[nodiscard]] PGAS_FN bool fits_packets(const context& ctx, const team_view& team, std::uint64_t units) {
  const auto n = static_cast<std::uint64_t>(team.n_pes());
  const std::uint64_t room = packet_buffer_bytes(team) / ll_unit_packed_bytes;
  if (n < 2 || units == 0 || units > room || units * n > room) return false;
  return all_direct(ctx, team);
}
/// Like fits_packets(), for a channel that may have no packets. The result is the same on all members, because the
/// result depends only on the team and on the message size.
[[nodiscard]] PGAS_FN bool fits_ll(const context& ctx, const team_view& team, std::uint64_t units) {
  return (team.channel_ == 0 || team.channel_ == team.n_channels()) && fits_packets(ctx, team, units);
}

/// One thread's state of an exchange. Each thread loads the epoch together with the data that it sends, so the two
/// loads overlap.
struct ll_epoch {
  std::uintptr_t packets;  ///< address of this PE's packets
  peer_map peers;
  const control_block* control;
  std::int32_t members;
  std::int32_t me;
  std::uint32_t room;   ///< packet_buffer_bytes()
  std::uint32_t units;  ///< units of each message
  std::uint32_t epoch;  ///< 0 before load_epoch()

  PGAS_FN void load_epoch() {
    epoch = load_relaxed(reinterpret_cast<std::uint32_t*>(packets - team_state_layout::line));
  }
  /// Member `from`'s message in this PE's slot.
  [[nodiscard]] PGAS_FN std::uintptr_t message(std::int32_t from) const {
    return packets + (epoch & 1) * std::uint64_t{room} +
           static_cast<std::uint64_t>(from) * units * ll_unit_packed_bytes;
  }
  /// The first packet of unit `u` of member `from`'s message. The second packet of the unit is `units` packets further.
  [[nodiscard]] PGAS_FN vec16* packet(std::int32_t from, std::uint32_t u) const {
    return reinterpret_cast<vec16*>(message(from)) + u;
  }
  /// The member `i` positions after this member, 1 <= i < members.
  [[nodiscard]] PGAS_FN std::int32_t other(std::int32_t i) const { return member_behind(me, i, members); }
};
template <class Team>
[[nodiscard]] PGAS_FN ll_epoch ll_epoch_of(const context& ctx, const Team& team, std::uint64_t units,
                                           std::uint32_t epoch) {
  return {reinterpret_cast<std::uintptr_t>(ll_counter(ctx, team)) + team_state_layout::line,
          direct_peer_map(ctx, team),
          ctx.control_,
          team.n_pes(),
          team.my_pe(),
          static_cast<std::uint32_t>(packet_buffer_bytes(team)),
          static_cast<std::uint32_t>(units),
          epoch};
}

/// Writes unit `u` of this PE's message to a member.
PGAS_FN void send_ll_unit(const ll_epoch& now, std::int32_t member, std::uint32_t u, const vec16& data) {
  send_ll_unit(now.peers.at(now.packet(now.me, u), member), now.units, now.epoch, data);
}

/// Waits until `Batch` units have arrived. The units may belong to different members.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_ll_units(const ll_epoch& now, const vec16* const (&at)[Batch],
                                             vec16 (&data)[Batch]) {
  return await_ll_units(now.control, at, now.units, now.epoch, data);
}

/// The result of an exchange for one thread: the missing unit and its sender, -1 for any member.
struct ll_result {
  failure why;
  std::uint32_t unit;
  std::int32_t from;
  std::uint32_t epoch;  ///< epoch of the exchange
};

/// Records a member whose packet did not arrive.
template <class Team>
PGAS_COLD void report_lost_ll_packet(const context* copy, Team team, operation what, std::uint64_t units,
                                     ll_result end) {
  const context& ctx = *copy;
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

/// Restarts the epochs at 1 with cleared packets. The call is collective, and is needed once in 2^32 exchanges.
template <PGAS_IS(group) G, class Team>
PGAS_COLD void reset_ll_packets(const context* copy, G g, Team team, operation what) {
  const context& ctx = *copy;
  std::uint32_t* const count = ll_counter(ctx, team);
  if (g.thread_rank() == 0) store_relaxed(count, 0u);
  auto* const packets = reinterpret_cast<std::byte*>(count) + team_state_layout::line;
  const auto step = static_cast<std::uint64_t>(g.size()) * 16;
  for (std::uint64_t at = static_cast<std::uint64_t>(g.thread_rank()) * 16; at < 2 * packet_buffer_bytes(team);
       at += step)
    store_relaxed(reinterpret_cast<vec16*>(packets + at), vec16{});
  collective_barrier(ctx, g, team, what);  // no member sends before all members have cleared their packets
}

/// An exchange by all threads of a group. `exchange` executes one thread's share of the exchange, and returns the
/// result of this thread. Earlier accesses of the group's threads come before the exchange. On return, all threads of
/// the group have finished the exchange.
/// @param team a team_view or a block_view
template <PGAS_IS(group) G, class Team, class Exchange>
PGAS_FN void ll_exchange(const context& ctx, const G& g, const Team& team, std::uint64_t units, operation what,
                         const Exchange& exchange) {
  // One thread increments the epoch before the other threads load it. All loads of the previous exchange are complete.
  std::uint32_t* const count = ll_counter(ctx, team);
  if (g.thread_rank() == 0) reduce<rmw::add>(count, 1u);
  g.sync();
  const ll_result end = exchange(ll_epoch_of(ctx, team, units, 0));
  if (end.why != failure::none) PGAS_UNLIKELY
    report_lost_ll_packet(ctx.copy_, team, what, units, end);
  exit_if_any(g, end.why != failure::none);
  if (end.epoch == ~std::uint32_t{0}) PGAS_UNLIKELY
    reset_ll_packets(ctx.copy_, g, team, what);
}

}  // namespace pgas::detail
