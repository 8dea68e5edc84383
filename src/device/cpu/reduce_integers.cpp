#include "device/cpu/reduce.hpp"

namespace pgas::detail {

template bool execute_reduce<integers>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
