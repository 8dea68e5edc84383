/// @file
/// The teams of a split by colour, for a reduction that sends each member only the team of that member. A value
/// consists of runs: members of one colour whose numbers and keys are evenly spaced. A team with evenly spaced members
/// is one run of 24 bytes. A team with members in any order needs at most half as many runs as it has members.
///
/// control_group::reduce() combines values by merge_colors(), and selects the part of each child by colors_in().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The runs of a member that has this colour and key; no bytes if the colour is negative (no team).
[[nodiscard]] blob encode_color(int member, std::int32_t color, std::int32_t key);
/// Adds the teams of `more`. *Errors* bootstrap_protocol for malformed bytes. The functions below throw the same error.
void merge_colors(blob& all, std::span<const std::byte> more);
/// The teams in `all` that have members in `some`.
[[nodiscard]] blob colors_in(std::span<const std::byte> all, std::span<const std::byte> some);
/// The members with this colour, in the order of their keys. Members with equal keys are in the order of their numbers.
[[nodiscard]] std::vector<int> members_of_color(std::span<const std::byte> all, std::int32_t color);

}  // namespace pgas::detail
