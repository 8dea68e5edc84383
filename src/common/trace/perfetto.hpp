/// @file
/// The numbers of the fields of Perfetto's messages that the trace uses (protos/perfetto/trace), and the names of the
/// annotations from which pgas-trace reads the events back.
#pragma once

#include <cstdint>

namespace pgas::trace::perfetto {

inline constexpr std::uint32_t trace_packet = 1;

namespace packet {
inline constexpr std::uint32_t timestamp = 8;
inline constexpr std::uint32_t sequence = 10;  ///< trusted_packet_sequence_id
inline constexpr std::uint32_t track_event = 11;
inline constexpr std::uint32_t track_descriptor = 60;
}  // namespace packet

namespace descriptor {
inline constexpr std::uint32_t uuid = 1;
inline constexpr std::uint32_t name = 2;
inline constexpr std::uint32_t parent = 5;
}  // namespace descriptor

namespace track_event {
inline constexpr std::uint32_t annotation = 4;
inline constexpr std::uint32_t type = 9;
inline constexpr std::uint32_t track = 11;
inline constexpr std::uint32_t category = 22;
inline constexpr std::uint32_t name = 23;
inline constexpr std::uint32_t flow = 47;
inline constexpr std::uint32_t ending_flow = 48;

inline constexpr std::uint64_t slice_begin = 1;
inline constexpr std::uint64_t slice_end = 2;
inline constexpr std::uint64_t instant = 3;
}  // namespace track_event

namespace annotation {
inline constexpr std::uint32_t unsigned_value = 3;
inline constexpr std::uint32_t signed_value = 4;
inline constexpr std::uint32_t text_value = 6;
inline constexpr std::uint32_t name = 10;
}  // namespace annotation

/// The name of the event that describes a PE. It is the first event of the PE's track.
inline constexpr const char* about_pe = "about this PE";

/// The number of a PE's own track, a multiple of 2^20. The numbers of the PE's other tracks follow it.
[[nodiscard]] constexpr std::uint64_t track_of(std::int32_t pe) noexcept {
  return (static_cast<std::uint64_t>(pe) + 1) << 20;
}

}  // namespace pgas::trace::perfetto
