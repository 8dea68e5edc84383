/// @file
/// LL packets: a packet has 16 bytes. Each half consists of 4 bytes of data and the 4-byte epoch of the message. Used
/// by the collectives' exchanges (`ll_exchange.hpp`), by `packet_channel.hpp` and by `ll_value.hpp`.
///
/// The LL (low latency) protocol of NCCL, src/include/nccl_device/impl/ll_a2a__funcs.h: data and flag arrive together,
/// so a message takes one link latency, without fence or barrier. The protocol requires only 8-byte accesses to be
/// atomic.
#pragma once

#include "pgas/device/impl/reduce/reduce_loop.hpp"
#include "pgas/device/impl/sync/wait.hpp"

namespace pgas {

/// The unit of a channel's memory: a program allocates packet_lines() or ll_lines() lines. The library owns the
/// contents of these lines.
struct alignas(128) packet_line {
  std::uint64_t words[16];
};

}  // namespace pgas

namespace pgas::detail {

/// The number of packets in a line.
inline constexpr std::uint32_t packets_in_line = sizeof(packet_line) / sizeof(vec16);

/// The data of a packet.
using packet_data = std::uint64_t;

/// The unit of a collective's message: 16 bytes of data in two packets. The first packets of all units precede all
/// second packets, so the stores of a warp fill whole lines.
inline constexpr std::uint64_t unit_bytes = 16;
inline constexpr std::uint64_t ll_unit_packed_bytes = 32;

/// The number of units that hold `bytes` bytes.
[[nodiscard]] PGAS_FN std::uint64_t ll_units(std::uint64_t bytes) { return (bytes + unit_bytes - 1) / unit_bytes; }

/// A packet with the epoch in both halves.
[[nodiscard]] PGAS_FN vec16 make_ll_packet(std::uint32_t low, std::uint32_t high, std::uint32_t epoch) {
  return {{low, epoch, high, epoch}};
}

/// Like make_ll_packet(), for one word of data.
[[nodiscard]] PGAS_FN vec16 make_ll_packet(packet_data data, std::uint32_t epoch) {
  return make_ll_packet(static_cast<std::uint32_t>(data), static_cast<std::uint32_t>(data >> 32), epoch);
}
/// The data of a packet.
[[nodiscard]] PGAS_FN packet_data data_of(const vec16& packet) { return packet_data{packet.w[2]} << 32 | packet.w[0]; }

/// Writes a unit. `remote` is the first packet; the second packet is `apart` packets further.
PGAS_FN void send_ll_unit(vec16* remote, std::uint32_t apart, std::uint32_t epoch, const vec16& data) {
  store_relaxed(remote, make_ll_packet(data.w[0], data.w[1], epoch));
  store_relaxed(remote + apart, make_ll_packet(data.w[2], data.w[3], epoch));
}

/// Polls several packets at the same time. @return Whether all have arrived.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN bool ll_packets_ready(const vec16* const (&at)[Batch], std::uint32_t epoch,
                                            vec16 (&packet)[Batch]) {
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) packet[b] = load_relaxed(at[b]);
  std::uint32_t other = 0;  // bits in which an epoch differs
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) other |= (packet[b].w[1] ^ epoch) | (packet[b].w[3] ^ epoch);
  return other == 0;
}

/// Returns `epoch` if both halves of the packet have this epoch. If a half has another epoch, returns a value that
/// differs from `epoch`.
[[nodiscard]] PGAS_FN std::uint32_t epoch_in(const vec16* packet, std::uint32_t epoch) {
  const vec16 remote = load_relaxed(packet);
  return remote.w[3] != epoch ? remote.w[3] : remote.w[1];
}

/// Like epoch_in(), for a unit.
[[nodiscard]] PGAS_FN std::uint32_t epoch_seen(const vec16* packet, std::uint32_t apart, std::uint32_t epoch) {
  const std::uint32_t second = epoch_in(packet + apart, epoch);
  return second != epoch ? second : epoch_in(packet, epoch);
}

/// Answers the host's question about a wait of a collective: writes a record of a packet that has not arrived. The host
/// derives the team and the sender from the packet's location. If the wait fails, ll_exchange() writes the record.
PGAS_COLD void answer_for_packet(const control_block* control, const vec16* packet, std::uint32_t apart,
                                 std::uint32_t epoch, wait_state now) {
  if (now.why != failure::asked) return;
  failure_record found =
      wait_record(now, operation::none, -1, reinterpret_cast<std::uintptr_t>(packet) - control->my_slot, cmp::eq, epoch,
                  epoch_in(packet, epoch));
  found.bytes = apart * sizeof(vec16);
  leave_record(const_cast<control_block*>(control), control->my_slot, found);
}

/// Waits for several units, which are polled at the same time. @param at the first packet of each unit
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_ll_units(const control_block* control, const vec16* const (&at)[Batch],
                                             std::uint32_t apart, std::uint32_t epoch, vec16 (&data)[Batch]) {
  const vec16* both[2 * Batch];
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) {
    both[2 * b] = at[b];
    both[2 * b + 1] = at[b] + apart;
  }
  vec16 packet[2 * Batch];
  const failure why = poll_until(
      control, [&] { return ll_packets_ready(both, epoch, packet); },
      [&](wait_state now) {
        const vec16* missing = at[0];
        PGAS_UNROLL
        for (std::uint32_t b = 1; b < Batch; ++b) {
          if (epoch_seen(missing, apart, epoch) == epoch) missing = at[b];
        }
        answer_for_packet(control, missing, apart, epoch, now);
      });
  PGAS_UNROLL
  for (std::uint32_t b = 0; b < Batch; ++b) {
    const vec16& low = packet[2 * b];
    const vec16& high = packet[2 * b + 1];
    data[b] = vec16{{low.w[0], low.w[2], high.w[0], high.w[2]}};
  }
  return why;
}

/// The pieces of a message with elements of type T.
template <class T>
using ll_piece = typename word < unit_of<T><8 ? unit_of<T> : 8>::type;

/// Loads a word of 16 or 8 bytes of elements of type T. Only `left` elements exist, at least one. Copies of the first
/// element fill the other positions of the word, so that an operation on all positions processes only valid elements.
template <class T, class Word = vec16>
[[nodiscard]] PGAS_FN Word load_elements(const std::byte* p, std::uint32_t left) {
  constexpr std::uint32_t width = sizeof(Word) / sizeof(T);
  if constexpr (width > 1) {
    if (left >= width && (reinterpret_cast<std::uintptr_t>(p) & (sizeof(Word) - 1)) == 0)
      return load_unit<space::any, sizeof(Word)>(p);
  }
  lanes<typename element_access<T>::raw, width> all;
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < width; ++k) all.at[k] = element_access<T>::load(p + (k < left ? k : 0) * sizeof(T));
  return bits_as<Word>(all);
}
template <class T, space Space = space::heap, class Word = vec16>
PGAS_FN void store_elements(std::byte* p, const Word& data, std::uint32_t left) {
  constexpr std::uint32_t width = sizeof(Word) / sizeof(T);
  if constexpr (width > 1) {
    if (left >= width && (reinterpret_cast<std::uintptr_t>(p) & (sizeof(Word) - 1)) == 0) {
      store_unit<Space, sizeof(Word)>(p, data);
      return;
    }
  }
  const auto all = bits_as<lanes<typename element_access<T>::raw, width>>(data);
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < width; ++k) {
    if (k == 0 || k < left) element_access<T>::store(p + k * sizeof(T), all.at[k]);
  }
}

}  // namespace pgas::detail
