// Atomic operations of host threads: blocking operations, with a result or without, and nonblocking fetches. Those on
// streams are in stream_atomic.cpp.
#include "pgas/atomic.hpp"

#include "host/error/device_failure.hpp"
#include "host/team/host_operation.hpp"

namespace pgas::detail {

std::uint64_t fetch_update(world& w, const atomic_op& update, int pe) {
  const op_target how = blocking(w);
  host_operation s(how, name_of(operation_of(update.how, update.fetches)));
  s.check_pe(pe);
  return s.state().fetch(s.atomic_request(update, pe));
}

void begin_fetch(world& w, const atomic_op& update, void* result, int pe) {
  const op_target how = nonblocking(w);
  host_operation s(how, name_of(operation_of(update.how, true)));
  s.check_pe(pe);
  // `result` may be any host memory, which kernels can't write: the next quiet() copies the value there.
  s.state().fetch_nonblocking(s.atomic_request(update, pe), result);
}

}  // namespace pgas::detail
