/// @file
/// The number of collectives that each leaving PE has enqueued on its device. Each PE contributes its counts to
/// await_leave(). This file does not include device_collective.hpp, because group_exchange, which merges the counts,
/// uses no devices and no threads.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The counts of some members of one group.
struct enqueued_count {
  std::uint64_t group = 0;
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  std::int32_t lowest_pe = -1;   ///< the PE with the lowest count; -1: no member has counted
  std::int32_t unknown_pe = -1;  ///< a member that does not know its count; -1: all members know their counts
};

/// Encodes the counts of some groups, in ascending order of the groups, as a contribution.
[[nodiscard]] blob encode_counts(std::span<const enqueued_count> counts);
/// Adds the counts of other PEs. The order of the additions does not matter, and adding a count again changes nothing.
void merge_counts(blob& all, std::span<const std::byte> more);
[[nodiscard]] std::optional<enqueued_count> count_of(std::span<const std::byte> counts, std::uint64_t group);

}  // namespace pgas::detail
