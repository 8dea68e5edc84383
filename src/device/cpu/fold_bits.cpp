#include "device/cpu/fold.hpp"

namespace pgas::detail {

template bool carry_out_fold<op::bit_and>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::bit_or>(const context&, const team_view&, const collective_request&);
template bool carry_out_fold<op::bit_xor>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
