/// @file
/// carry_out_fold() for the files that instantiate it; several, as each takes the compiler a while.
#pragma once

#include "device/collective_bodies.hpp"
#include "device/cpu/collective.hpp"

namespace pgas::detail {

template <class Op>
bool carry_out_fold(const context& ctx, const team_view& team, const collective_request& request) {
  return any_type<Op>([&]<class T>(type_is<T>) {
    if (asked_as<Op, T>() != request.type) return false;
    fold_as_asked<Op, T>(ctx, this_thread{}, team, request);
    return true;
  });
}

}  // namespace pgas::detail
