#include "device/cpu/fold.hpp"

namespace pgas::detail {

template bool carry_out_fold<op::min>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::max>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::maxloc>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::minloc>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
