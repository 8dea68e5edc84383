#include "device/cpu/reduce.hpp"

namespace pgas::detail {

template bool execute_reduce<pairs>(const context&, const team_view&, const collective_request&);

}  // namespace pgas::detail
