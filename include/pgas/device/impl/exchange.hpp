/// @file
/// What the collectives of `collective.hpp` are made of: stores into every member's destination, and folds of every
/// member's source.
#pragma once

#include "pgas/device/impl/fold.hpp"
#include "pgas/device/impl/same_call.hpp"
#include "pgas/device/impl/strided.hpp"

namespace pgas::detail {

/// Puts `count` elements at `dst` of every member, this PE last: its own copy overlaps the others' way over the link.
template <class T, PGAS_IS(group) G>
PGAS_FN void put_to_all(const context& ctx, const G& g, const team_view& team, T* dst, const T* src,
                        std::size_t count) {
  for (std::int32_t i = 1; i < team.n_pes(); ++i) {
    const std::int32_t member = team.my_pe() + i < team.n_pes() ? team.my_pe() + i : team.my_pe() + i - team.n_pes();
    copy<direction::put>(g, ctx.world_remote(dst, team.world_pe(member)), src, count);
  }
  if (dst != src) copy<direction::put>(g, dst, src, count);
}

/// Calls copy(to, from) once for each member, this PE last: `from` is the member's block of this PE's source, `to` this
/// PE's block of the member's destination. @param dst_block, src_block elements from one block to the next
template <class T, class Copy>
PGAS_FN void for_each_block(const context& ctx, const team_view& team, T* dst, const T* src, std::ptrdiff_t dst_block,
                            std::ptrdiff_t src_block, Copy copy) {
  const std::int32_t n = team.n_pes();
  const std::int32_t me = team.my_pe();
  T* const mine = dst + me * dst_block;
  for (std::int32_t i = 1; i <= n; ++i) {
    const std::int32_t member = me + i < n ? me + i : me + i - n;
    copy(ctx.world_remote(mine, team.world_pe(member)), src + member * src_block);
  }
}

/// This PE's copy of the word in which member `i` says how much it has.
[[nodiscard]] PGAS_FN std::uint64_t* value_word(const context& ctx, const team_view& team, std::int32_t i) {
  return reinterpret_cast<std::uint64_t*>(ctx.my_slot_ + team.channel_offset() + team_layout::value(team.n_pes(), i));
}

/// Tells all members this PE's `value`, meets them, and returns the sum of the values of the members before this one.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN std::uint64_t sum_before(const context& ctx, const G& g, const team_view& team,
                                               std::uint64_t value, operation what) {
  const auto size = static_cast<std::int32_t>(g.size());
  std::uint64_t* const mine = value_word(ctx, team, team.my_pe());
  for (auto i = static_cast<std::int32_t>(g.thread_rank()); i < team.n_pes(); i += size)
    store_relaxed(ctx.world_remote(mine, team.world_pe(i)), value);
  meet_or_end(ctx, g, team, what);
  std::uint64_t sum = 0;
  for (std::int32_t i = 0; i < team.my_pe(); ++i) sum += load_relaxed(value_word(ctx, team, i));
  return sum;
}

/// How the folds of a collective reach the members.
[[nodiscard]] PGAS_FN reach reach_of(const context& ctx, const team_view& team) {
  const std::int32_t start = team.members_ == nullptr ? team.start_ : 0;
  return {team.members_, start - ctx.world_pe_, team.stride_, ctx.log2_stride_};
}

/// Where the share of member `member` of `count` elements starts: whole lines of 128 bytes, as even as that allows. The
/// same on all members, as their `src` differ by multiples of a slot.
template <class T>
[[nodiscard]] PGAS_FN std::size_t share_start(const T* src, std::size_t count, std::int32_t members,
                                              std::int32_t member) {
  constexpr std::size_t line = 128;
  constexpr std::size_t per_line = sizeof(T) < line ? line / sizeof(T) : 1;
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(src) % line / sizeof(T) % per_line;  // into its first line
  const auto n = static_cast<std::size_t>(members);
  const std::size_t lines = (count + skew + per_line - 1) / per_line;
  const std::size_t before = ((lines + n - 1) / n) * static_cast<std::size_t>(member) * per_line;
  return before <= skew ? 0 : before - skew < count ? before - skew : count;
}

/// A fold by all members, each of its share. They meet before, so that all sources are there, and after, so that all
/// results are. @param first_target, end_target who gets whole results
template <fold_result Result, class T, class Op, PGAS_IS(group) G>
PGAS_FN void fold_shares(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count,
                         Op op, std::int32_t first_target, std::int32_t end_target, operation what) {
  const std::size_t begin = share_start(src, count, team.n_pes(), team.my_pe());
  const std::size_t end = share_start(src, count, team.n_pes(), team.my_pe() + 1);
  const fold_job job{reinterpret_cast<const std::byte*>(src + begin),
                     reinterpret_cast<std::byte*>(dst + begin),
                     end - begin,
                     reach_of(ctx, team),
                     team.n_pes(),
                     first_target,
                     end_target};
  meet_or_end(ctx, g, team, what);
  fold<Result, T>(op, job, share{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())});
  meet_or_end(ctx, g, team, what);
}

/// A fold by which each member gets its own block of `count` elements of the result.
template <class T, class Op, PGAS_IS(group) G>
PGAS_FN void fold_block(const context& ctx, const G& g, const team_view& team, T* dst, const T* src, std::size_t count,
                        Op op) {
  const fold_job job{reinterpret_cast<const std::byte*>(src + static_cast<std::size_t>(team.my_pe()) * count),
                     reinterpret_cast<std::byte*>(dst),
                     count,
                     reach_of(ctx, team),
                     team.n_pes(),
                     team.my_pe(),
                     team.my_pe() + 1};
  meet_or_end(ctx, g, team, operation::reduce_scatter);
  fold<fold_result::whole, T>(op, job,
                              share{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())});
  meet_or_end(ctx, g, team, operation::reduce_scatter);
}

}  // namespace pgas::detail
