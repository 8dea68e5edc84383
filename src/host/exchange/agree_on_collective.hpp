/// @file
/// Checks before a collective that all members make the same call.
#pragma once

#include <optional>

#include "host/exchange/control_group.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

[[nodiscard]] const char* name_of(collective_kind what);
/// Whether the collective has a root.
[[nodiscard]] bool rooted(collective_kind what);

/// The position of a member's source in its destination. For reduce_scatter, the position of the destination in the
/// source.
enum class placement : std::uint32_t {
  apart,
  in_place,
  of_another,  ///< the source is at the position of another member
};

/// Collective: returns if all members make the same call and no member refuses the call. Otherwise all members throw
/// the same error. *Errors* asymmetric_call if calls differ; the error of the first member that refuses the call;
/// invalid_argument if the call is in place on some members and not on others.
void agree_on_collective(const control_group& group, const collective_request& mine, placement where,
                         const std::optional<error>& refused);

}  // namespace pgas::detail
