/// @file
/// Making teams of a team's members.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "host/team/team_state.hpp"

namespace pgas::detail {

/// The arguments of one member. All members of the parent pass the same, but for colour and key.
struct split_call {
  static constexpr std::uint32_t expected_magic = 0x7465616d;
  enum class kind : std::uint32_t { strided = 1, colors = 2, list = 3, rows = 4, columns = 5 };

  std::uint32_t magic = expected_magic;
  kind what = kind::strided;
  std::int32_t start = 0;
  std::int32_t stride = 0;
  std::int32_t size = 0;  ///< of the team; of a row
  std::int32_t color = 0;
  std::int32_t key = 0;
  std::int32_t channels = 0;
  control_group::identity proposed = 0;  ///< the identity that this member proposes for the new team
};

/// Collective over `parent`: the new team that this member is in, null if it is in none.
/// @param list of kind::list.
/// *Errors* asymmetric_call, invalid_argument, out_of_memory: the same on all members of the parent; nothing was made
/// then.
[[nodiscard]] std::shared_ptr<team_state> split(team_state& parent, split_call mine, std::span<const int> list = {});

/// Collective over `members` of `parent` alone: the team of them. *Errors* as team::create_group().
[[nodiscard]] std::shared_ptr<team_state> make_group(team_state& parent, std::span<const int> members,
                                                     std::uint64_t key, const team_config& how);

}  // namespace pgas::detail
