#include "device/cpu/fold.hpp"

namespace pgas::detail {

template bool carry_out_fold<op::sum>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::prod>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
