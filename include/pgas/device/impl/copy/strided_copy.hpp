/// @file
/// Copies of blocks at regular distances, used by iput(), iget(), ibput(), ibget() and alltoalls(), and by
/// `strided_collective.hpp`.
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

/// A thread's iterator over one side. The iterator advances to the next piece without a division.
template <class Byte, std::size_t Unit>
class piece_walk {
 public:
  PGAS_FN piece_walk(strided_side<Byte> side, std::size_t per_block, slice me)
      : at_(side.start + static_cast<std::ptrdiff_t>(me.rank / per_block) * side.step + me.rank % per_block * Unit),
        hop_(static_cast<std::ptrdiff_t>(me.size / per_block) * side.step +
             static_cast<std::ptrdiff_t>(me.size % per_block * Unit)),
        gap_(side.step - static_cast<std::ptrdiff_t>(per_block * Unit)) {}

  [[nodiscard]] PGAS_FN Byte* at() const { return at_; }
  /// @param new_block whether the next piece is in the next block
  PGAS_FN void advance(bool new_block) { at_ += hop_ + (new_block ? gap_ : 0); }

 private:
  Byte* at_;
  std::ptrdiff_t hop_;
  std::ptrdiff_t gap_;
};

/// Advances `piece`, the index in a block, by `by`. @return Whether the piece is now in the next block.
[[nodiscard]] PGAS_FN bool next_piece(std::size_t& piece, std::size_t by, std::size_t per_block) {
  piece += by;
  const bool new_block = piece >= per_block;
  if (new_block) piece -= per_block;
  return new_block;
}

/// Copies all blocks as one sequence of pieces of `Unit` bytes; the threads share the pieces cyclically. Several loads
/// precede the first store. @param per_block pieces of a block @param total pieces of all blocks
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_pieces(strided_side<std::byte> dst, strided_side<const std::byte> src, std::size_t per_block,
                              std::size_t total, slice me) {
  constexpr std::uint32_t batch = Unit >= 8 ? 4 : 8;
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

/// Like copy_pieces(), for blocks of one piece: copies `count` pieces of `Unit` bytes at regular distances. The threads
/// share the pieces cyclically.
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_elements(strided_side<std::byte> dst, strided_side<const std::byte> src, std::size_t count,
                                slice me) {
  constexpr std::uint32_t batch = Unit >= 8 ? 4 : 8;
  dst.start += static_cast<std::ptrdiff_t>(me.rank) * dst.step;
  src.start += static_cast<std::ptrdiff_t>(me.rank) * src.step;
  dst.step *= static_cast<std::ptrdiff_t>(me.size);
  src.step *= static_cast<std::ptrdiff_t>(me.size);
  PGAS_ROLLED
  for (auto left = static_cast<std::ptrdiff_t>(count - me.rank); left > 0;) {
    unit_word<Unit> v[batch] = {};
    std::ptrdiff_t loaded = left;
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i, loaded -= me.size, src.start += src.step) {
      if (loaded > 0) v[i] = load_unit<source_space<Direction>, Unit>(src.start);
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i, left -= me.size, dst.start += dst.step) {
      if (left > 0) store_unit<target_space<Direction>, Unit>(dst.start, v[i]);
    }
  }
}

/// The largest unit for copy_pieces() that divides all addresses, sizes and distances. @param bits the bitwise OR of
/// these numbers
[[nodiscard]] PGAS_HD std::size_t unit_of_all(std::size_t bits) {
  bits |= 16;
  return bits & (0 - bits);
}

template <std::size_t Unit>
using unit_constant = std::integral_constant<std::size_t, Unit>;

/// Calls call(unit_constant<unit>) for a unit that is known only at run time. @param Least the smallest possible unit
template <std::size_t Least, class Call>
PGAS_FN void with_unit(std::size_t unit, Call call) {
  if constexpr (Least == 16) {
    call(unit_constant<16>{});
  } else if (unit == Least) {
    call(unit_constant<Least>{});
  } else {
    with_unit<Least * 2>(unit, call);
  }
}

/// Blocks of bytes at regular distances on both sides. Out-of-line code receives the address of the struct, because
/// values that are live across calls cost the kernel registers.
struct byte_blocks {
  strided_side<std::byte> dst;
  strided_side<const std::byte> src;
  std::size_t bytes;  ///< bytes of a block
  std::size_t count;

  /// The largest unit of pieces that the addresses and distances allow. The distance is irrelevant for a single block.
  [[nodiscard]] PGAS_FN std::size_t unit() const {
    const std::size_t distances = static_cast<std::size_t>(dst.step) | static_cast<std::size_t>(src.step);
    return unit_of_all(reinterpret_cast<std::uintptr_t>(dst.start) | reinterpret_cast<std::uintptr_t>(src.start) |
                       (count == 1 ? 0 : distances));
  }
};
template <class T>
[[nodiscard]] PGAS_FN byte_blocks byte_blocks_of(T* dst, const T* src, std::ptrdiff_t dst_stride,
                                                 std::ptrdiff_t src_stride, std::size_t block, std::size_t count) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  return {{reinterpret_cast<std::byte*>(dst), dst_stride * size},
          {reinterpret_cast<const std::byte*>(src), src_stride * size},
          block * sizeof(T),
          count};
}

/// Splits each block into a part that consists of units of the largest size and a part that consists of units of the
/// smallest size. Calls call(unit_constant, start in each block, bytes in each block) for each part that is not empty.
template <std::size_t Least, class Call>
PGAS_FN void by_largest_units(const byte_blocks* blocks, Call call) {
  const std::size_t unit = blocks->unit();
  if (unit <= blocks->bytes) {
    with_unit<Least>(unit, [=](auto known) { call(known, 0, blocks->bytes & (0 - decltype(known)::value)); });
  }
  const std::size_t rest = blocks->bytes & (blocks->unit() - 1);
  if (rest != 0) call(unit_constant<Least>{}, blocks->bytes - rest, rest);
}

/// Iterates over the pieces that one thread copies, in all blocks of the data, without a division. A piece has `Unit`
/// bytes. (Two indices take fewer registers than addresses.)
template <std::size_t Unit>
class piece_index {
 public:
  /// @param part size of a block in bytes; a block has fewer than 4 Gi pieces
  PGAS_FN piece_index(std::size_t part, slice me)
      : per_block_(static_cast<std::uint32_t>(part / Unit)),
        hop_blocks_(me.size / per_block_),
        hop_(me.size % per_block_),
        block_(me.rank / per_block_),
        piece_(me.rank % per_block_) {}

  [[nodiscard]] PGAS_FN bool inside(std::size_t blocks) const { return block_ < blocks; }
  /// The address of the piece on one side. @param start offset of the pieces in each block, in bytes
  template <class Byte>
  [[nodiscard]] PGAS_FN Byte* in(const strided_side<Byte>& side, std::size_t start) const {
    return side.start + start + static_cast<std::ptrdiff_t>(block_) * side.step + std::size_t{piece_} * Unit;
  }
  PGAS_FN void advance() {
    block_ += hop_blocks_;
    piece_ += hop_;
    if (piece_ >= per_block_) {
      piece_ -= per_block_;
      ++block_;
    }
  }

 private:
  std::uint32_t per_block_;
  std::uint32_t hop_blocks_;
  std::uint32_t hop_;
  std::size_t block_;
  std::uint32_t piece_;
};

/// Copies one thread's share of a range of each block. Several loads precede the first store.
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_part(const byte_blocks* blocks, std::size_t start, std::size_t part, slice me) {
  constexpr std::uint32_t batch = Unit == 16 ? 2 : 4;
  for (piece_index<Unit> piece(part, me); piece.inside(blocks->count);) {
    unit_word<Unit> v[batch] = {};
    piece_index<Unit> ahead = piece;
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      if (ahead.inside(blocks->count)) v[i] = load_unit<source_space<Direction>, Unit>(ahead.in(blocks->src, start));
      ahead.advance();
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      if (piece.inside(blocks->count)) store_unit<target_space<Direction>, Unit>(piece.in(blocks->dst, start), v[i]);
      piece.advance();
    }
  }
}

/// Copies blocks in the largest pieces that addresses and distances allow; all threads take part.
template <direction Direction, std::size_t Least>
PGAS_OUTLINE void copy_by_largest_units(const byte_blocks* blocks, slice me) {
  by_largest_units<Least>(blocks, [=](auto known, std::size_t start, std::size_t part) {
    copy_part<Direction, decltype(known)::value>(blocks, start, part, me);
  });
}

/// Copies large blocks one after another, in 16-byte words.
template <direction Direction, std::size_t Unit, PGAS_IS(group) G>
PGAS_OUTLINE void copy_block_by_block(byte_blocks* blocks, G g) {
  using unit = unit_word<Unit>;
  for (; blocks->count != 0; --blocks->count) {
    copy_by<Direction>(g, reinterpret_cast<unit*>(blocks->dst.start), reinterpret_cast<const unit*>(blocks->src.start),
                       blocks->bytes / Unit);
    blocks->dst.start += blocks->dst.step;
    blocks->src.start += blocks->src.step;
  }
}

/// Copies this thread's share of `count` single elements at regular distances, as copy() does.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy_spaced(const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                         std::size_t count) {
  constexpr std::size_t pieces = sizeof(T) / unit_of<T>;
  if (count == 0) return;
  const byte_blocks all = byte_blocks_of(dst, src, dst_stride, src_stride, 1, count);
  if constexpr (pieces == 1) {
    copy_elements<Direction, unit_of<T>>(all.dst, all.src, count, slice_of(g));
  } else {
    copy_pieces<Direction, unit_of<T>>(all.dst, all.src, pieces, pieces * count, slice_of(g));
  }
}

/// Copies this thread's share of `count` blocks of `block` elements, as copy() does. The group copies large blocks one
/// after another in 16-byte words, and small blocks in pieces that all threads share.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy_strided(const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                          std::size_t block, std::size_t count) {
  constexpr std::size_t unit = unit_of<T>;
  constexpr std::size_t large_block = 256;
  if (block == 0 || count == 0) return;
  const slice me = slice_of(g);
  byte_blocks all = byte_blocks_of(dst, src, dst_stride, src_stride, block, count);
  if (dst_stride == src_stride && dst_stride == static_cast<std::ptrdiff_t>(block)) {
    all.bytes *= count;
    all.count = 1;
  }
  if (all.bytes >= large_block && all.bytes >= std::size_t{me.size} * 16) {
    copy_block_by_block<Direction, unit>(&all, g);
  } else {
    copy_by_largest_units<Direction, unit>(&all, me);
  }
}

/// Copies `count` blocks of `bytes` bytes in units of `unit` bytes. The unit is known only at run time: it is
/// unit_of_all() of both sides and `bytes`.
template <direction Direction>
PGAS_FN void copy_blocks(std::size_t unit, strided_side<std::byte> dst, strided_side<const std::byte> src,
                         std::size_t bytes, std::size_t count, slice me) {
  const std::size_t per_block = bytes / unit;
  const std::size_t total = per_block * count;
  if (me.rank >= total) return;
  with_unit<1>(unit,
               [=](auto known) { copy_pieces<Direction, decltype(known)::value>(dst, src, per_block, total, me); });
}

/// An access to blocks at regular distances. The struct is in the local memory of its thread, so the call needs one
/// address as its argument.
struct checked_blocks {
  checked_access all;   ///< the bytes from the lowest to the highest address; at first, `local` is the start of block 0
  std::size_t element;  ///< bytes of an element
  std::ptrdiff_t stride;
  std::size_t block;
  std::size_t count;
};

/// Ends the thread if a block is not entirely in the heap, or if the PE does not exist.
PGAS_COLD void check_blocks(checked_blocks* blocks) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  const std::ptrdiff_t stride = blocks->stride;
  const std::uint64_t step = stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
  const std::uint64_t steps = blocks->block == 0 || blocks->count == 0 ? 0 : blocks->count - 1;
  const std::uint64_t elements = blocks->count == 0 ? 0 : blocks->block;
  blocks->all.bytes = huge;  // the value if the number of bytes overflows
  if (step == 0 || steps <= (huge - elements) / step) {
    const std::uint64_t span = steps * step + elements;
    if (span <= huge / blocks->element) blocks->all.bytes = span * blocks->element;
  }
  if (blocks->all.bytes != huge && stride < 0)
    blocks->all.local = static_cast<const volatile std::byte*>(blocks->all.local) - steps * step * blocks->element;
  check_access(&blocks->all);
}

/// Like check(), for blocks at regular distances.
template <class T>
PGAS_FN void check_strided(const context& ctx, operation what, const T* local, std::ptrdiff_t stride, std::size_t block,
                           std::size_t count, std::int32_t pe) {
  if (ctx.checks()) PGAS_UNLIKELY {
    checked_blocks blocks{{checked_heap_of(ctx), what, pe, local, 0, alignof(T)}, sizeof(T), stride, block, count};
    check_blocks(&blocks);
  }
}

}  // namespace pgas::detail
