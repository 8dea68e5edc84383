/// @file
/// Copies that neighbouring lanes of a warp request at the same time, each lane for itself. The lanes make these copies
/// together (opportunistic warp-level coalescing). Used by put() and get() of single threads. If each lane copied
/// alone, the 16-byte accesses of the warp would be scattered, and each access would be a separate transfer over the
/// link. Instead, eight lanes together copy 128 adjacent bytes of one request, then 128 bytes of the next request, so
/// each transfer is full. The eight lanes have loads of several requests in flight.
///
/// The order of each caller is preserved. The sync before the copies makes a lane's earlier stores visible to the lanes
/// that read the stored values. The sync after the copies orders a lane's later operations after the copies that the
/// other lanes make for this lane. A later fence, quiet or release of the lane also orders these copies, because
/// releases are cumulative.
#pragma once

#include "pgas/detail/coalesced_lanes.hpp"
#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/device/impl/copy/copy.hpp"

namespace pgas::detail {

/// The smallest request that the lanes copy together. A thread alone copies a request with fewer bytes.
inline constexpr std::size_t least_coalesced_bytes = 64;

/// The number of words that each lane has in flight: a divisor of 8. With four words, a thread's put() or get() needs
/// 42 registers instead of 32.
inline constexpr std::uint32_t coalesced_words = 2;

/// Copies words of the requests of the lanes `first` to `first + coalesced_words - 1`. The function copies one word of
/// each request, the word at this lane's position. All eight lanes call the function.
/// @param n the bytes of this lane's own request at dst and src, at most 128
template <direction Direction, class Lanes>
PGAS_FN void copy_words_of(const Lanes& lanes, std::uint32_t first, std::byte* dst, const std::byte* src,
                           std::uint32_t n) {
  vec16 v[coalesced_words] = {};
  std::uint32_t present = 0;  // bit i: request `first + i` has a word at this lane's position
  PGAS_UNROLL
  for (std::uint32_t i = 0; i < coalesced_words; ++i) {
    const std::byte* const from = lanes.from_lane(src, first + i) + lanes.rank() * 16;
    if (lanes.rank() * 16 < lanes.from_lane(n, first + i)) {
      present |= 1u << i;
      v[i] = load16<source_space<Direction>>(from);
    }
  }
  PGAS_UNROLL
  for (std::uint32_t i = 0; i < coalesced_words; ++i) {
    std::byte* const to = lanes.from_lane(dst, first + i) + lanes.rank() * 16;
    if ((present >> i & 1) != 0) store16<target_space<Direction>>(to, v[i]);
  }
}

/// Executes this lane's copy together with the copies of the seven other lanes of the group of eight. All eight lanes
/// call the function. The addresses `dst` and `src` are congruent modulo 16.
template <direction Direction, std::size_t Unit, class Lanes>
PGAS_FN void copy_coalesced(const Lanes& lanes, std::byte* dst, const std::byte* src, std::uint32_t bytes) {
  std::uint32_t head = (0 - static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(dst))) & 15;
  if (head > bytes) head = bytes;
  if constexpr (Unit < 16) {  // the ends come first, so the code below keeps no register for the ends
    copy_ends<Direction, Unit>(dst, src, bytes, head, (bytes - head) & 15, slice{0, 1});
  }
  std::uint32_t left = (bytes - head) & ~15u;
  dst += head;
  src += head;
  lanes.sync();
  while (lanes.any(left != 0)) {
    const std::uint32_t now = left < 128 ? left : 128;
    PGAS_ROLLED
    for (std::uint32_t first = 0; first < 8; first += coalesced_words) {
      copy_words_of<Direction>(lanes, first, dst, src, now);
    }
    dst += now;
    src += now;
    left -= now;
  }
  lanes.sync();
}

/// Copies for a single thread. Eight neighbouring threads that call the function at the same time copy together. A
/// thread copies alone in three cases: the memory on this PE is private (the thread's stack), the addresses `dst` and
/// `src` are not congruent modulo 16, or the copy has 2 GiB or more.
template <direction Direction, std::size_t Unit>
PGAS_OUTLINE void copy_by_thread(std::byte* dst, const std::byte* src, std::size_t bytes) {
  const bool congruent = ((reinterpret_cast<std::uintptr_t>(dst) ^ reinterpret_cast<std::uintptr_t>(src)) & 15) == 0;
  const void* const local = Direction == direction::put ? static_cast<const void*>(src) : dst;
  if (bytes >= least_coalesced_bytes && congruent && !is_private(local) && bytes >> 31 == 0) {
    const lane_octet lanes;
    if (lanes.complete()) return copy_coalesced<Direction, Unit>(lanes, dst, src, static_cast<std::uint32_t>(bytes));
  }
  copy_bulk<Direction, Unit, 1>(dst, src, bytes, slice{0, 1});
}

/// Like copy(), for one thread instead of a group.
template <direction Direction, class T>
PGAS_FN void copy_alone(T* dst, const T* src, std::size_t count) {
  constexpr std::size_t unit = unit_of<T>;
  if constexpr (lane_octet::possible) {
    auto* const to = reinterpret_cast<std::byte*>(dst);
    const auto* const from = reinterpret_cast<const std::byte*>(src);
    const std::size_t bytes = count * sizeof(T);
    if (bytes == unit) {  // a constant count of one is the most frequent case, and needs no comparison
      copy_few<Direction, unit>(to, from, 1);
    } else if (bytes <= 4 * unit) {
      copy_few<Direction, unit>(to, from, opaque(static_cast<std::uint32_t>(bytes / unit)));
    } else {
      copy_by_thread<Direction, unit>(to, from, bytes);
    }
  } else {
    copy<Direction>(this_thread{}, dst, src, count);
  }
}

/// copy(), or copy_alone() if the group is one thread.
template <direction Direction, class T, PGAS_IS(group) G>
PGAS_FN void copy_by(const G& g, T* dst, const T* src, std::size_t count) {
  if constexpr (std::is_same_v<G, this_thread>) {
    copy_alone<Direction>(dst, src, count);
  } else {
    copy<Direction>(g, dst, src, count);
  }
}

}  // namespace pgas::detail
