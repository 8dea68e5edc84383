/// @file
/// What members tell one another of a collective before they are in it.
#pragma once

#include <optional>

#include "host/control/control_group.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

[[nodiscard]] const char* name_of(collective_kind what);
/// Whether it has a root.
[[nodiscard]] bool rooted(collective_kind what);

/// How a member's source lies in its destination, or for reduce_scatter the destination in the source.
enum class placement : std::uint32_t {
  apart,
  in_place,
  of_another,  ///< where another member's would be in place
};

/// Collective: returns on all members if all make this call and nobody refuses it, else throws the same on all of them:
/// asymmetric_call; what the first that refuses has found; invalid_argument unless all are in place, or none.
void agree_on_call(const control_group& group, const collective_request& mine, placement where,
                   const std::optional<error>& refused);

}  // namespace pgas::detail
