/// @file
/// execute_reduce() for the files that instantiate it; several, as each takes the compiler a while.
#pragma once

#include "device/cpu/collective.hpp"
#include "device/shared/collective_kernels.hpp"

namespace pgas::detail {

template <class Family>
bool execute_reduce(const context& ctx, const team_view& team, const collective_request& request) {
  return Family::choose(request.type,
                        [&]<class T>(type_is<T>) { execute_reduction<T>(ctx, this_thread{}, team, request); });
}

}  // namespace pgas::detail
