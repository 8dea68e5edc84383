/// @file
/// Checks before a collective that all members make the same call.
#pragma once

#include <optional>

#include "host/control/control_group.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

[[nodiscard]] const char* name_of(collective_kind what);
/// Whether it has a root.
[[nodiscard]] bool rooted(collective_kind what);

/// The position of a member's source in its destination, or for reduce_scatter of the destination in the source.
enum class placement : std::uint32_t {
  apart,
  in_place,
  of_another,  ///< at the position of another member
};

/// Collective: returns on all members if all make this call and none refuses it, else throws the same error on all:
/// asymmetric_call; the error of the first member that refuses; invalid_argument unless all are in place, or none.
void agree_on_collective(const control_group& group, const collective_request& mine, placement where,
                         const std::optional<error>& refused);

}  // namespace pgas::detail
