/// @file
/// Checks of collectives: their arguments, and whether all members make the same call. Used by `device/collective.hpp`
/// and `device/reduce.hpp`. To compare calls, each member sends a hash of its call (the signature) to the other
/// members, and compares the hashes after one barrier.
#pragma once

#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas::detail {

/// The arguments that members must agree on. Symmetric memory must have the same offset everywhere.
struct collective_call {
  operation what;
  std::uint32_t variant = 0;  ///< operation and variant of a reduction
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  std::int64_t dst_stride = 1;
  std::int64_t src_stride = 1;
  std::int32_t root = 0;
  const void* dst = nullptr;  ///< null if members may pass different addresses
  const void* src = nullptr;
};

/// a * b, saturated.
[[nodiscard]] PGAS_HD constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
}

/// The length of the range that `count` elements with a stride occupy, in elements.
[[nodiscard]] PGAS_HD constexpr std::uint64_t span_of(std::uint64_t count, std::int64_t stride) {
  if (stride < 1) return ~std::uint64_t{0};
  return count == 0 ? 0 : times(count - 1, static_cast<std::uint64_t>(stride)) + 1;
}

/// A hash of a call. `round` is the number of earlier barriers, so the hash of an earlier call is not mistaken for the
/// hash of the current call.
PGAS_COLD std::uint64_t signature_of(context ctx, collective_call call, std::uint64_t round) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto add = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  add(static_cast<std::uint64_t>(call.what) << 32 | call.variant);
  add(call.element_bytes);
  add(call.count);
  add(static_cast<std::uint64_t>(call.dst_stride));
  add(static_cast<std::uint64_t>(call.src_stride));
  add(static_cast<std::uint64_t>(call.root));
  add(call.dst != nullptr ? ctx.offset(call.dst) : 0);
  add(call.src != nullptr ? ctx.offset(call.src) : 0);
  add(round);
  return hash;
}

/// Ends the thread unless `local` has `count` elements of symmetric memory; with a count of 0 any address is valid.
template <class T>
PGAS_FN void check_buffer(const context& ctx, operation what, const T* local, std::uint64_t count) {
  if (count == 0) return;
  const checked_access access{checked_heap_of(ctx), what, ctx.my_pe(), local, times(count, sizeof(T)), alignof(T)};
  check_access(&access);
}

/// Ends the thread unless `root` is a member.
PGAS_COLD void check_root(const context* copy, team_view team, operation what, std::int32_t root) {
  const context& ctx = *copy;
  if (root >= 0 && root < team.n_pes()) return;
  report(ctx, bad_argument(failure::pe_out_of_range, what, root, team.state_offset_, 0));
  end_thread();
}

/// This PE's copy of member `i`'s signature.
[[nodiscard]] PGAS_FN std::uint64_t* signature_word(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + team.channel_offset() +
                                          team_state_layout::signature(team.n_pes(), i));
}

/// Writes an internal word on PE `world_pe`. A barrier completes the write.
PGAS_FN void store_at_member(const context& ctx, std::uint64_t* word, std::uint64_t value, std::int32_t world_pe,
                             operation what) {
  ctx.by_world_route(
      word, world_pe, [&](std::uint64_t* remote) { store_relaxed(remote, value); },
      [&](std::int32_t proxied_pe) {
        proxied_store(proxy_queue_of(ctx), {what, proxied_pe, ctx.offset(word)}, payload_of(value), sizeof value);
      });
}

/// Whether member `i` made a different call.
PGAS_COLD bool differs(context ctx, team_view team, operation what, std::int32_t i, std::uint64_t mine) {
  if (i == team.my_pe() || load_relaxed(signature_word(ctx, team, i)) == mine) return false;
  report(ctx, bad_argument(failure::asymmetric, what, team.world_pe(i), team.channel_offset(), 0));
  return true;
}

/// Ends the group unless all members make this call. One word for each member is sufficient: a collective completes by
/// a barrier or by packets, and therefore completes on no member before all members have compared.
template <PGAS_IS(group) G>
PGAS_COLD void check_collective(const context* copy, G g, team_view team, collective_call call) {
  check_member(copy, team, call.what);
  const context& ctx = *copy;
  const std::int32_t me = team.my_pe();
  const std::int32_t n = team.n_pes();
  if (n == 1) return;
  g.sync();
  const std::uint64_t barriers = load_relaxed(&member_state(ctx, team, me == 0 ? 1 : 0)->waited) +
                                 load_relaxed(&domain_state(ctx, team)->waited);  // the unused word is 0
  const std::uint64_t mine = signature_of(ctx, call, barriers);
  const auto rank = static_cast<std::int32_t>(g.thread_rank());
  const auto size = static_cast<std::int32_t>(g.size());
  for (std::int32_t i = rank; i < n; i += size) {
    if (i != me) store_at_member(ctx, signature_word(ctx, team, me), mine, team.world_pe(i), call.what);
  }
  collective_barrier(ctx, g, team, call.what);
  bool lost = false;
  for (std::int32_t i = rank; i < n && !lost; i += size) lost = differs(ctx, team, call.what, i, mine);
  exit_if_any(g, lost);
}

}  // namespace pgas::detail
