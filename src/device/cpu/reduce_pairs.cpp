#include "device/cpu/reduce.hpp"

namespace pgas::detail {

template bool carry_out_fold<pairs>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
