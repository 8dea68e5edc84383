/// @file
/// Copies of blocks at regular distances, used by iput(), iget(), ibput(), ibget() and alltoalls().
#pragma once

#include "pgas/device/impl/copy/coalesced_copy.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"

namespace pgas::detail {

/// One side of a strided copy, in bytes: its start, and the distance from one block to the next.
template <class Byte>
struct strided_side {
  Byte* start;
  std::ptrdiff_t step;
};

/// A thread's iteration over one side: its next piece, and the one after it without a division.
template <class Byte, std::size_t Unit>
class piece_walk {
 public:
  PGAS_FN piece_walk(strided_side<Byte> side, std::size_t per_block, slice me)
      : at_(side.start + static_cast<std::ptrdiff_t>(me.rank / per_block) * side.step + me.rank % per_block * Unit),
        hop_(static_cast<std::ptrdiff_t>(me.size / per_block) * side.step +
             static_cast<std::ptrdiff_t>(me.size % per_block * Unit)),
        gap_(side.step - static_cast<std::ptrdiff_t>(per_block * Unit)) {}

  [[nodiscard]] PGAS_FN Byte* at() const { return at_; }
  /// @param new_block the next piece is in the next block
  PGAS_FN void advance(bool new_block) { at_ += hop_ + (new_block ? gap_ : 0); }

 private:
  Byte* at_;
  std::ptrdiff_t hop_;
  std::ptrdiff_t gap_;
};

/// Moves `piece`, the index in a block, on by `by`; whether that led into the next block.
[[nodiscard]] PGAS_FN bool next_piece(std::size_t& piece, std::size_t by, std::size_t per_block) {
  piece += by;
  const bool new_block = piece >= per_block;
  if (new_block) piece -= per_block;
  return new_block;
}

/// All blocks as one sequence of pieces of `Unit` bytes, taken by the threads in turn; several loads before the first
/// store. @param per_block pieces of a block @param total pieces of all blocks
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_pieces(strided_side<std::byte> dst, strided_side<const std::byte> src, std::size_t per_block,
                              std::size_t total, slice me) {
  constexpr std::uint32_t batch = Unit == 16 ? 4 : 8;
  piece_walk<const std::byte, Unit> from(src, per_block, me);
  piece_walk<std::byte, Unit> to(dst, per_block, me);
  const std::size_t by = me.size % per_block;
  std::size_t here = me.rank % per_block;
  for (auto left = static_cast<std::ptrdiff_t>(total - me.rank); left > 0;) {
    unit_word<Unit> v[batch] = {};
    std::size_t ahead = here;
    std::ptrdiff_t loaded = left;
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i, loaded -= me.size) {
      if (loaded > 0) v[i] = load_unit<source_space<Direction>, Unit>(from.at());
      from.advance(next_piece(ahead, by, per_block));
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i, left -= me.size) {
      if (left > 0) store_unit<target_space<Direction>, Unit>(to.at(), v[i]);
      to.advance(next_piece(here, by, per_block));
    }
  }
}

/// Copies `count` blocks of `block` elements; this thread's slice, as copy(). Large blocks one by one, in 16-byte
/// words; small ones piece by piece, with all threads of the group busy.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy_strided(const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                          std::size_t block, std::size_t count) {
  constexpr std::size_t unit = unit_of<T>;
  constexpr std::size_t large_block = 256;
  const slice me{static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
  if (block == 0 || count == 0) return;
  if (block * sizeof(T) >= large_block && block * sizeof(T) >= std::size_t{me.size} * 16) {
    for (std::size_t i = 0; i < count; ++i) {
      copy_by<Direction>(g, dst, src, block);
      dst += dst_stride;
      src += src_stride;
    }
  } else {
    constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
    const std::size_t per_block = block * (sizeof(T) / unit);
    copy_pieces<Direction, unit>({reinterpret_cast<std::byte*>(dst), dst_stride * bytes},
                                 {reinterpret_cast<const std::byte*>(src), src_stride * bytes}, per_block,
                                 per_block * count, me);
  }
}

/// The largest unit of copy_pieces() that all addresses, sizes and distances are multiples of, which are given or-ed.
[[nodiscard]] PGAS_HD std::size_t unit_of_all(std::size_t bits) {
  bits |= 16;
  return bits & (0 - bits);
}

/// Copies `count` blocks of `bytes` in units that are only known here: unit_of_all() of both sides and `bytes`.
template <direction Direction>
PGAS_FN void copy_blocks(std::size_t unit, strided_side<std::byte> dst, strided_side<const std::byte> src,
                         std::size_t bytes, std::size_t count, slice me) {
  const std::size_t per_block = bytes / unit;
  const std::size_t total = per_block * count;
  if (me.rank >= total) return;
  switch (unit) {
    case 1: return copy_pieces<Direction, 1>(dst, src, per_block, total, me);
    case 2: return copy_pieces<Direction, 2>(dst, src, per_block, total, me);
    case 4: return copy_pieces<Direction, 4>(dst, src, per_block, total, me);
    case 8: return copy_pieces<Direction, 8>(dst, src, per_block, total, me);
    default: return copy_pieces<Direction, 16>(dst, src, per_block, total, me);
  }
}

/// Ends the thread if blocks at `local` leave the heap, or PE `pe` is none.
PGAS_COLD void check_strided_out_of_line(checked_heap heap, operation what, const volatile std::byte* local,
                                         std::size_t alignment, std::size_t size, std::ptrdiff_t stride,
                                         std::size_t block, std::size_t count, std::int32_t pe) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  const std::uint64_t step = stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
  const std::uint64_t steps = block == 0 || count == 0 ? 0 : count - 1;
  const std::uint64_t elements = count == 0 ? 0 : block;
  std::uint64_t bytes = huge;  // from the lowest to the highest; all of it where that overflows
  if (step == 0 || steps <= (huge - elements) / step) {
    const std::uint64_t span = steps * step + elements;
    if (span <= huge / size) bytes = span * size;
  }
  if (bytes != huge && stride < 0) local -= steps * step * size;
  check_here(heap, what, local, bytes, alignment, pe);
}

/// check() for blocks at regular distances.
template <class T>
PGAS_FN void check_strided(const context& ctx, operation what, const T* local, std::ptrdiff_t stride, std::size_t block,
                           std::size_t count, std::int32_t pe) {
  if (ctx.checks()) PGAS_UNLIKELY {
    check_strided_out_of_line(checked_heap_of(ctx), what, reinterpret_cast<const volatile std::byte*>(local),
                              alignof(T), sizeof(T), stride, block, count, pe);
  }
}

}  // namespace pgas::detail
