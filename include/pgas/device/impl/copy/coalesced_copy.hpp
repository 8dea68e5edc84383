/// @file
/// Copies that neighbouring lanes of a warp call at the same time, each for itself, carried out together. Used by put()
/// and get() of single threads. Opportunistic warp-level coalescing: a thread alone accesses 16 bytes here and there,
/// each a transfer of its own over the link; eight lanes that take 128 neighbouring bytes of one request after the
/// other make full ones. They hold 128 bytes of each of their eight requests at a time, so as much is in flight as if
/// each worked alone.
///
/// The callers' order is kept. The sync before makes a lane's earlier stores visible to the lanes that read them. The
/// sync after puts a lane's later operations after the others' copies for it, so its later fence, quiet or release
/// covers them, as releases are cumulative.
#pragma once

#include "pgas/detail/coalesced_lanes.hpp"
#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/device/impl/copy/copy.hpp"

namespace pgas::detail {

/// Requests of fewer bytes are left to their own thread.
inline constexpr std::size_t least_coalesced_bytes = 64;

/// `n` aligned words of each lane's request; both sides are congruent. All eight lanes call; any `n`, also 0.
template <direction Direction, class Lanes>
PGAS_FN void copy_words_coalesced(const Lanes& lanes, std::byte* dst, const std::byte* src, std::size_t n) {
  constexpr std::uint32_t size = 8;
  const std::uint32_t at = lanes.rank() * 16;
  while (lanes.any(n != 0)) {
    const std::uint32_t now = n < size ? static_cast<std::uint32_t>(n) * 16 : size * 16;
    vec16 v[size] = {};
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::byte* const from = lanes.of(src, i);
      if (at < lanes.of(now, i)) v[i] = load16<source_space<Direction>>(from + at);
    }
    PGAS_UNROLL
    for (std::uint32_t i = 0; i < size; ++i) {
      std::byte* const to = lanes.of(dst, i);
      if (at < lanes.of(now, i)) store16<target_space<Direction>>(to + at, v[i]);
    }
    src += now;
    dst += now;
    n -= now / 16;
  }
}

/// The copy of one lane whose seven neighbours are there with copies of theirs. Both sides are congruent modulo 16.
template <direction Direction, std::size_t Unit, class Lanes>
PGAS_OUTLINE void copy_coalesced(Lanes lanes, std::byte* dst, const std::byte* src, std::size_t bytes) {
  std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(dst)) & 15;
  if (head > bytes) head = bytes;
  const std::size_t n = (bytes - head) / 16;
  if constexpr (Unit < 16) {  // its own ends first, so that no register is kept for them
    copy_ends<Direction, Unit>(dst, src, bytes, static_cast<std::uint32_t>(head),
                               static_cast<std::uint32_t>(bytes - head - n * 16), slice{0, 1});
  }
  lanes.sync();
  copy_words_coalesced<Direction>(lanes, dst + head, src + head, n);
  lanes.sync();
}

/// The copy of a thread by itself: with its neighbours if they call at the same time, else alone. Private memory (its
/// stack) and shifted copies it copies alone.
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_by_thread(std::byte* dst, const std::byte* src, std::size_t bytes) {
  const bool congruent = ((reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src)) & 15) == 0;
  const void* const local = Direction == direction::put ? static_cast<const void*>(src) : dst;
  if (congruent && !is_private(local)) {
    const lane_octet lanes;
    if (lanes.complete()) {
      copy_coalesced<Direction, Unit>(lanes, dst, src, bytes);
      return;
    }
  }
  copy_long<Direction, Unit>(dst, src, bytes, slice{0, 1});
}

/// Copies `count` elements by the calling thread alone, as copy().
template <direction Direction, class T>
PGAS_FN void copy_alone(T* dst, const T* src, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (lane_octet::possible && bytes >= least_coalesced_bytes) {
    copy_by_thread<Direction, unit_of<T>>(reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src),
                                          bytes);
  } else {
    copy<Direction>(this_thread{}, dst, src, count);
  }
}

/// copy(), or copy_alone() where the group is one thread.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy_by(const G& g, T* dst, const T* src, std::size_t count) {
  if constexpr (std::is_same_v<G, this_thread>) {
    copy_alone<Direction>(dst, src, count);
  } else {
    copy<Direction>(g, dst, src, count);
  }
}

}  // namespace pgas::detail
