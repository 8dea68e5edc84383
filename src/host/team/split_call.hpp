/// @file
/// The arguments of a split: their encoding for the comparison, their checks, and the members of each new team. The
/// functions do not communicate. All members compute the same result from the same arguments, so they exchange only the
/// value for the comparison. The size of this value does not depend on the number of members.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/team.hpp"

namespace pgas::detail {

/// The arguments of one member. All members of the parent pass the same arguments, except colour and key.
struct split_call {
  enum class kind : std::uint16_t { strided = 1, colors = 2, list = 3, rows = 4, columns = 5 };

  kind what = kind::strided;
  std::uint16_t staged = 0;  ///< 1: team_config::staged
  std::int32_t start = 0;
  std::int32_t stride = 0;
  std::int32_t size = 0;  ///< the size of the team, or of a row
  std::int32_t channels = 0;
  std::int32_t color = 0;
  std::int32_t key = 0;

  void configure(const team_config& how) {
    channels = how.channels;
    staged = how.staged ? 1 : 0;
  }
  [[nodiscard]] team_config config() const { return {channels, staged != 0}; }
};

/// The value that members compare: the arguments that must be equal, and a hash of the list.
[[nodiscard]] blob comparable(const split_call& call, std::span<const int> list);
/// The value of another member as text. Empty if the value does not belong to a split.
[[nodiscard]] std::string text_of_split(std::span<const std::byte> comparable);

/// *Errors* invalid_argument. @param n the number of members of the parent
void check_arguments(const split_call& call, std::span<const int> list, int n);

/// The members of the new team of member `me`, by their numbers in the parent. The first member identifies the team
/// among the teams of this split. Empty if the member is in no team.
/// @param colors the result of the reduction of colours (color_runs.hpp), for kind::colors
[[nodiscard]] std::vector<int> members_after(const split_call& call, std::span<const int> list,
                                             std::span<const std::byte> colors, int n, int me);

}  // namespace pgas::detail
