#include "device/cpu/collective.hpp"

#include "device/shared/collective_kernels.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

void execute_operation(const context& ctx, const team_view& team, const collective_request& request) {
  if (moves(request)) return execute_move(ctx, this_thread{}, team, request);
  const auto reduce_elements = [&]<class Family>(Family) { return execute_reduce<Family>(ctx, team, request); };
  if (!dispatch_type_group(request, reduce_elements))
    throw error(code::invalid_argument, "a reduction was asked for that does not take this type");
}

}  // namespace pgas::detail
