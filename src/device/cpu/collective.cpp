#include "device/cpu/collective.hpp"

#include "device/shared/collective_kernels.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

void carry_out(const context& ctx, const team_view& team, const collective_request& request) {
  if (moves(request)) return move_as_asked(ctx, this_thread{}, team, request);
  const auto fold = [&]<class Family>(Family) { return carry_out_fold<Family>(ctx, team, request); };
  if (!with_family(request, fold))
    throw error(code::invalid_argument, "a reduction was asked for that does not take this type");
}

}  // namespace pgas::detail
