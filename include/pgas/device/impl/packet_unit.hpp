/// @file
/// Packets: 8 bytes of data in 16, each half of which also carries the number of the message that it belongs to. Who
/// sees the number has the data with it: no fence, no barrier, one flight over the link. (The LL protocol of NCCL:
/// src/include/nccl_device/impl/ll_a2a__funcs.h. Nothing but 8-byte accesses is taken to be whole.)
///
/// Collectives exchange them (`packet.hpp`), and programs through channels of their own (`packet_channel.hpp`).
#pragma once

#include "pgas/device/impl/fold.hpp"
#include "pgas/device/impl/wait.hpp"

namespace pgas::detail {

/// What messages are made of: 16 bytes of data in two packets. The first packets of all units of a message lie before
/// all the second ones, so that the stores of a warp fill whole lines.
inline constexpr std::uint64_t unit_bytes = 16;
inline constexpr std::uint64_t packed_unit_bytes = 32;

/// How many units hold `bytes` bytes.
[[nodiscard]] PGAS_FN std::uint64_t units_of(std::uint64_t bytes) { return (bytes + unit_bytes - 1) / unit_bytes; }

/// Writes a unit where its first packet lies; the second one lies `apart` packets behind.
PGAS_FN void send_unit(vec16* there, std::uint32_t apart, std::uint32_t number, const vec16& data) {
  store_relaxed(there, vec16{{data.w[0], number, data.w[1], number}});
  store_relaxed(there + apart, vec16{{data.w[2], number, data.w[3], number}});
}

/// Waits for some units, all polled at once. @param at their first packets
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_units(const control_block* control, const vec16* const (&at)[Batch],
                                          std::uint32_t apart, std::uint32_t number, vec16 (&data)[Batch]) {
  return poll_until(control, [&] {
    vec16 low[Batch];
    vec16 high[Batch];
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) {
      low[b] = load_relaxed(at[b]);
      high[b] = load_relaxed(at[b] + apart);
    }
    std::uint32_t other = 0;  // bits by which some number differs
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) {
      other |= (low[b].w[1] ^ number) | (low[b].w[3] ^ number);
      other |= (high[b].w[1] ^ number) | (high[b].w[3] ^ number);
      data[b] = vec16{{low[b].w[0], low[b].w[2], high[b].w[0], high[b].w[2]}};
    }
    return other == 0;
  });
}

/// What a unit that did not come has where another number stands.
[[nodiscard]] PGAS_FN std::uint32_t number_seen(const vec16* packet, std::uint32_t apart, std::uint32_t number) {
  std::uint32_t seen = number;
  for (std::uint32_t half = 0; half < 2; ++half) {
    const vec16 there = load_relaxed(packet + half * apart);
    if (there.w[1] != number) seen = there.w[1];
    if (there.w[3] != number) seen = there.w[3];
  }
  return seen;
}

/// What a message of elements of type T is made of.
template <class T>
using packed_piece = typename word < unit_of<T><8 ? unit_of<T> : 8>::type;

/// Sixteen bytes of elements of type T, of which there are `left`, at least one. The places of those that are missing
/// hold the first one again: what is done to all places is never done to anything but elements.
template <class T>
[[nodiscard]] PGAS_FN vec16 load_elements(const std::byte* p, std::uint32_t left) {
  constexpr std::uint32_t width = 16 / sizeof(T);
  if (left >= width && (reinterpret_cast<std::uintptr_t>(p) & 15) == 0) return load16<space::any>(p);
  lanes<typename element_access<T>::raw, width> all;
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < width; ++k) all.at[k] = element_access<T>::load(p + (k < left ? k : 0) * sizeof(T));
  return bits_as<vec16>(all);
}
template <class T, space Space = space::heap>
PGAS_FN void store_elements(std::byte* p, const vec16& data, std::uint32_t left) {
  constexpr std::uint32_t width = 16 / sizeof(T);
  if (left >= width && (reinterpret_cast<std::uintptr_t>(p) & 15) == 0) {
    store16<Space>(p, data);
    return;
  }
  const auto all = bits_as<lanes<typename element_access<T>::raw, width>>(data);
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < width; ++k) {
    if (k < left) element_access<T>::store(p + k * sizeof(T), all.at[k]);
  }
}

}  // namespace pgas::detail
