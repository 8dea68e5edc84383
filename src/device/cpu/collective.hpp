/// @file
/// Collectives that the host asks for, on the host heap: by one thread, that of the stream.
#pragma once

#include "pgas/device/context.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"

namespace pgas::detail {

/// Carries out the request on the calling thread. *Errors* thread_ended when it can't be completed, with a failure
/// record; invalid_argument for an operation that does not take the type.
void execute_operation(const context& ctx, const team_view& team, const collective_request& request);

/// The part of execute_operation() for reductions of some types. False if the request's is none of them.
template <class Family>
bool execute_reduce(const context& ctx, const team_view& team, const collective_request& request);

}  // namespace pgas::detail
