/// @file
/// The copy between memory of this PE and a peer's part of the heap, used by put(), get() and all collectives. The data
/// passes through registers, 16 bytes per access. Many loads are in flight before the first store (unrolled,
/// grid-stride tiles). Put and get share this code; only the remote side differs.
///
/// * `Unit` is the alignment and size that the element type guarantees: 1, 2, 4, 8 or 16 bytes.
/// * If the addresses of source and destination are congruent modulo 16, copies of single units first bring both
///   addresses to a 16-byte boundary. If the addresses are not congruent, these copies align the destination only, and
///   a shift extracts each destination word from the two aligned source words that contain its bytes. On both paths
///   remote accesses are whole aligned 16-byte words; single units occur at the two ends only.
/// * No byte outside the source range is read, and no byte outside the destination range is written.
/// * The memory is divided into tiles, which the group's warps take cyclically. Each lane accesses 16 bytes at a time,
///   at a constant distance from its first access, so addresses need no additional registers. The remainder has less
///   than one tile for each warp. All threads share the remainder, and copy it by predicated accesses instead of a
///   sequence of smaller loops. In groups smaller than a warp, each thread has its own tiles.
/// * The bodies are out of line and take the rank and the size of the group, so there is one copy of the code for each
///   kind of copy operation. The bodies, and the values that a caller's loop keeps across the call, need fewer than 64
///   registers in total, so blocks of 1024 threads can be launched (tests/codegen/loops.cu).
#pragma once

#include "pgas/detail/isa/ptx_copy.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// The remote side of a copy: its destination (put) or its source (get).
enum class direction { put, get };

/// One thread's share of a group's work: thread `rank` of `size` threads.
struct slice {
  std::uint32_t rank;
  std::uint32_t size;
};
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN slice slice_of(const G& g) {
  return {static_cast<std::uint32_t>(g.thread_rank()), static_cast<std::uint32_t>(g.size())};
}

/// The access size that the type T guarantees, at most 16 bytes: this size divides `sizeof(T)` and the address of every
/// T*.
template <class T>
inline constexpr std::size_t unit_of = alignof(T) < 16 ? alignof(T) : 16;

/// The number of 16-byte words that each thread has in flight. With eight words, a loop around a put or get would need
/// more than 64 registers, the limit for threads of a block of 1024.
inline constexpr std::uint32_t copies_in_flight = 4;
inline constexpr std::uint32_t shifted = 2;      ///< number of destination words that a thread shifts at a time
inline constexpr std::uint32_t short_words = 4;  ///< maximum number of words of each thread in copy_short()

/// Prefetch distance of a single thread, whose registers hold too few words to cover the latency of a load.
inline constexpr std::size_t prefetch_bytes = 2048;

template <direction Direction>
inline constexpr space source_space = Direction == direction::get ? space::heap : space::any;
template <direction Direction>
inline constexpr space target_space = Direction == direction::put ? space::heap : space::any;

/// Bytes `shift`..`shift + 15` of the 32 bytes in `low`, `high`. `shift` is a multiple of Unit, 1 to 15.
template <std::size_t Unit>
[[nodiscard]] PGAS_FN vec16 shift_together(vec16 low, vec16 high, std::uint32_t shift) {
  std::uint32_t w[8] = {low.w[0], low.w[1], low.w[2], low.w[3], high.w[0], high.w[1], high.w[2], high.w[3]};
  if (Unit == 8 || (shift & 8) != 0) {
    PGAS_UNROLL
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if constexpr (Unit <= 4) {
    if ((shift & 4) != 0) {
      for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
    }
  }
  if constexpr (Unit < 4) {
    PGAS_UNROLL
    for (int i = 0; i < 4; ++i) w[i] = funnel_shift(w[i], w[i + 1], (shift & 3) * 8);
  }
  return {w[0], w[1], w[2], w[3]};
}

/// Copies the units at the two ends: the first `head` bytes and the last `tail` bytes of `bytes` bytes. `head` and
/// `tail` are multiples of Unit. All loads of a batch precede the stores of the batch.
template <direction Direction, std::size_t Unit>
PGAS_FN void copy_ends(std::byte* dst, const std::byte* src, std::size_t bytes, std::uint32_t head, std::uint32_t tail,
                       slice me) {
  constexpr std::uint32_t batch = 4;
  const std::uint32_t ends = head + tail;  // at most 62
  const std::size_t gap = bytes - ends;
  const std::uint32_t step = me.size * static_cast<std::uint32_t>(Unit);
  for (std::uint32_t first = me.rank * static_cast<std::uint32_t>(Unit); first < ends; first += batch * step) {
    typename word<Unit>::type value[batch] = {};
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      const std::uint32_t at = first + i * step;
      if (at < ends) value[i] = load_unit<source_space<Direction>, Unit>(src + (at < head ? at : at + gap));
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < batch; ++i) {
      const std::uint32_t at = first + i * step;
      if (at < ends) store_weak<Unit>(dst + (at < head ? at : at + gap), value[i]);
    }
  }
}

/// Whether a copy consists of whole aligned words.
[[nodiscard]] PGAS_FN bool aligned16(const std::byte* dst, const std::byte* src, std::size_t bytes) {
  return ((reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | bytes) & 15) == 0;
}

/// Copies this thread's aligned words from `at` on, `hop` bytes apart, at most Words words. The function is recursive:
/// it loads one word, calls itself for the remaining words, and then stores the word. Therefore no register is set for
/// a missing word.
template <space From, space To, std::uint32_t Words, class Offset>
PGAS_FN void copy_few_words(std::byte* dst, const std::byte* src, Offset bytes, Offset at, std::uint32_t hop) {
  if (at >= bytes) return;
  const vec16 v = load16<From>(src + at);
  if constexpr (Words > 1) copy_few_words<From, To, Words - 1, Offset>(dst, src, bytes, at + hop, hop);
  store16<To>(dst + at, v);
}

/// The tiles of a thread: `Lanes` threads share a tile, and access i of a thread is at i * hop.
template <std::uint32_t Depth, std::uint32_t Lanes>
struct tiling {
  static constexpr std::size_t hop = std::size_t{Lanes} * 16;
  static constexpr std::size_t bytes = Depth * hop;
  std::uint32_t start;  ///< offset of this thread's first access; groups have at most about 10^6 threads
  std::uint32_t step;   ///< bytes from one tile of the thread to the next

  PGAS_FN explicit tiling(slice me)
      : start(me.rank / Lanes * static_cast<std::uint32_t>(bytes) + me.rank % Lanes * 16),
        step(me.size / Lanes * static_cast<std::uint32_t>(bytes)) {}
};

/// Whether a thread has tiles. Threads after a group's last whole warp have no tiles.
template <std::uint32_t Lanes>
[[nodiscard]] PGAS_FN bool has_tiles(slice me) {
  return me.rank / Lanes < me.size / Lanes;
}

/// Drops stale lines of the L1 cache before a get whose loads may hit L1.
template <direction Direction>
PGAS_FN void forget_cached() {
  if constexpr (Direction == direction::get) fence_acquire();
}

/// Copies `n` words; both addresses are aligned. A single thread prefetches the words into L1, and loads the words
/// through L1.
template <direction Direction, std::uint32_t Lanes>
PGAS_FN void copy_words(std::byte* dst, const std::byte* src, std::size_t n, slice me) {
  constexpr std::uint32_t depth = copies_in_flight;
  using tile = tiling<depth, Lanes>;
  constexpr space from = Lanes == 1 ? space::any : source_space<Direction>;
  if constexpr (Lanes == 1) forget_cached<Direction>();
  const tile mine(me);
  std::size_t left = n * 16;
  src += mine.start;
  dst += mine.start;
  for (; left >= mine.step; left -= mine.step) {
    if (has_tiles<Lanes>(me)) {
      if constexpr (Lanes == 1) {
        if (left > prefetch_bytes + mine.start) prefetch(src + prefetch_bytes);
      }
      vec16 v[depth];
      PGAS_UNROLL
      for (std::uint32_t i = 0; i < depth; ++i) v[i] = load16<from>(src + i * tile::hop);
      PGAS_UNROLL
      for (std::uint32_t i = 0; i < depth; ++i) store16<target_space<Direction>>(dst + i * tile::hop, v[i]);
    }
    src += mine.step;
    dst += mine.step;
  }
  if (left == 0) return;
  // The remainder is less than one tile for each warp. All threads copy, so that all warps share the work.
  constexpr std::uint32_t batch = depth / 2;
  const std::uint32_t hop = me.size * 16;
  src -= mine.start;
  dst -= mine.start;
  PGAS_ROLLED
  for (std::uint32_t at = me.rank * 16; at < left; at += batch * hop) {
    copy_few_words<from, target_space<Direction>, batch>(dst, src, static_cast<std::uint32_t>(left), at, hop);
  }
}

/// Copies `n` words of 16 bytes to an aligned destination from an unaligned source, which begins `shift` bytes after
/// the aligned address `src`. Each destination word combines parts of two aligned source words. Every source word is
/// loaded twice, the second time from L1.
template <direction Direction, std::size_t Unit, std::uint32_t Lanes>
PGAS_FN void copy_shifted_words(std::byte* dst, const std::byte* src, std::size_t n, std::uint32_t shift, slice me) {
  constexpr std::uint32_t depth = shifted;
  using tile = tiling<depth, Lanes>;
  if (!has_tiles<Lanes>(me)) return;
  forget_cached<Direction>();
  const tile mine(me);
  auto left = static_cast<std::ptrdiff_t>(n * 16 - mine.start);  // bytes from this thread's first access on
  src += mine.start;
  dst += mine.start;
  PGAS_ROLLED
  for (; left > 0; left -= static_cast<std::ptrdiff_t>(mine.step)) {
    if constexpr (Lanes == 1) {
      if (left > static_cast<std::ptrdiff_t>(prefetch_bytes)) prefetch(src + prefetch_bytes);
    }
    vec16 low[depth] = {};
    vec16 high[depth] = {};
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < depth; ++i) {
      if (left > static_cast<std::ptrdiff_t>(i * tile::hop)) {
        low[i] = load16<space::any>(src + i * tile::hop);
        high[i] = load16<space::any>(src + i * tile::hop + 16);
      }
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < depth; ++i) {
      if (left > static_cast<std::ptrdiff_t>(i * tile::hop)) {
        store16<target_space<Direction>>(dst + i * tile::hop, shift_together<Unit>(low[i], high[i], shift));
      }
    }
    src += mine.step;
    dst += mine.step;
  }
}

/// A copy by tiles of `Lanes` threads. @param bytes a multiple of Unit
template <direction Direction, std::size_t Unit, std::uint32_t Lanes>
PGAS_FN void copy_bulk(std::byte* dst, const std::byte* src, std::size_t bytes, slice me) {
  if constexpr (Unit == 16) return copy_words<Direction, Lanes>(dst, src, bytes / 16, me);
  if constexpr (Lanes > 1) {
    // Most copies consist of whole aligned words. These copies have a separate path, because all warps of the block
    // would execute each additional instruction.
    if (aligned16(dst, src, bytes)) return copy_words<Direction, Lanes>(dst, src, bytes / 16, me);
  }
  if constexpr (Unit < 16) {
    std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(dst)) & 15;
    const auto shift = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(src) + head) & 15);
    std::size_t n = 0;
    if (shift == 0) {
      if (head > bytes) head = bytes;
      n = (bytes - head) / 16;
    } else {
      if (head < shift) head += 16;  // the first aligned source word must not start before the source
      // the upper half of the last word must end inside the source
      if (bytes + shift >= head + 32) n = (bytes + shift - head) / 16 - 1;
      if (n == 0) head = bytes;
    }
    // The ends are copied first, so the loops keep no registers for the ends.
    copy_ends<Direction, Unit>(dst, src, bytes, static_cast<std::uint32_t>(head),
                               static_cast<std::uint32_t>(bytes - head - n * 16), me);
    if (shift == 0) {
      copy_words<Direction, Lanes>(dst + head, src + head, n, me);
    } else if (n != 0) {
      copy_shifted_words<Direction, Unit, Lanes>(dst + head, src + head - shift, n, shift, me);
    }
  }
}

/// copy_bulk() by whole warps, or thread by thread if the group is smaller than a warp.
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_long(std::byte* dst, const std::byte* src, std::size_t bytes, slice me) {
  if (me.size < warp_size) {
    copy_bulk<Direction, Unit, 1>(dst, src, bytes, me);
  } else {
    copy_bulk<Direction, Unit, warp_size>(dst, src, bytes, me);
  }
}

/// Copies a few aligned words per thread, at most short_words. The function is out of line, because registers of an
/// inline function would add to the registers of the caller's loop.
template <direction Direction>
PGAS_OUTLINE void copy_short(std::byte* dst, const std::byte* src, std::uint32_t bytes, slice me) {
  copy_few_words<source_space<Direction>, target_space<Direction>, short_words>(dst, src, bytes, me.rank * 16,
                                                                                me.size * 16);
}

/// Copies at most four units by one thread: no call, and straight-line code if the number is a constant.
template <direction Direction, std::size_t Unit>
PGAS_FN void copy_few(std::byte* dst, const std::byte* src, std::size_t units) {
  unit_word<Unit> v[4] = {};
  PGAS_UNROLL
  for (std::size_t i = 0; i < 4; ++i) {
    if (i >= units) continue;
    v[i] = load_unit<source_space<Direction>, Unit>(src + i * Unit);
  }
  PGAS_UNROLL
  for (std::size_t i = 0; i < 4; ++i) {
    if (i >= units) continue;
    store_unit<target_space<Direction>, Unit>(dst + i * Unit, v[i]);
  }
}

/// Copies this thread's share of `count` elements. Returns when this thread has read its part of the source and issued
/// its stores. Does not synchronize the group.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy(const G& g, T* dst, const T* src, std::size_t count) {
  constexpr std::size_t unit = unit_of<T>;
  slice me = slice_of(g);
  // The compiler precomputes no multiples of opaque values, which saves ten registers.
  if constexpr (!single<G>) me = {opaque(me.rank), opaque(me.size)};
  auto* const to = reinterpret_cast<std::byte*>(dst);
  const auto* const from = reinterpret_cast<const std::byte*>(src);
  const std::size_t bytes = count * sizeof(T);
  const std::size_t units = bytes / unit;
  if (single<G> && units <= 4) {
    copy_few<Direction, unit>(to, from, units);
  } else if (units <= (unit >= 4 || me.size <= warp_size ? me.size : warp_size)) {
    // at most one access for each thread
    if (me.rank < units) copy_few<Direction, unit>(to + me.rank * unit, from + me.rank * unit, 1);
  } else if (!single<G> && bytes <= std::size_t{16} * me.size && aligned16(to, from, bytes)) {
    copy_few_words<source_space<Direction>, target_space<Direction>, 1>(to, from, static_cast<std::uint32_t>(bytes),
                                                                        me.rank * 16, me.size * 16);
  } else if (!single<G> && bytes <= std::size_t{short_words} * 16 * me.size && aligned16(to, from, bytes)) {
    copy_short<Direction>(to, from, static_cast<std::uint32_t>(bytes), me);
  } else {
    copy_long<Direction, unit>(to, from, bytes, me);
  }
}

/// Puts one thread's share of bytes. The source and the destination have the same offset from a 16-byte boundary.
/// Reductions put their results by this function. All element types and groups share one copy of the code, which is a
/// tenth of the size of copy().
PGAS_OUTLINE_IN_UNIT void put_congruent(std::byte* dst, const std::byte* src, std::size_t bytes, slice me) {
  std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(dst)) & 15;
  if (head > bytes) head = bytes;
  const std::size_t end = head + (bytes - head) / 16 * 16;
  const std::uint32_t hop = me.size * 16;
  for (std::size_t at = head + me.rank * 16; at < end; at += copies_in_flight * hop) {
    copy_few_words<space::any, space::heap, copies_in_flight>(dst, src, end, at, hop);
  }
  copy_ends<direction::put, 1>(dst, src, bytes, static_cast<std::uint32_t>(head),
                               static_cast<std::uint32_t>(bytes - end), me);
}

}  // namespace pgas::detail
