// Atomic operations that the host calls: blocking operations with or without a result, nonblocking fetches, and
// operations on streams.
#include "pgas/atomic.hpp"

#include <fmt/format.h>

#include "host/error/device_failure.hpp"
#include "host/world/host_operation.hpp"
#include "pgas/stream_atomic.hpp"

namespace pgas::detail {

std::uint64_t fetch_update(world& w, const atomic_op& update, int pe) {
  const op_target how = blocking(w);
  host_operation s(how, name_of(operation_of(update.how, update.fetches)));
  s.check_pe(pe);
  const std::uint64_t old = s.state().fetch(s.atomic_request(update, pe));
  s.count(update, pe);
  return old;
}

void begin_fetch(world& w, const atomic_op& update, void* result, int pe) {
  const op_target how = nonblocking(w);
  host_operation s(how, name_of(operation_of(update.how, true)));
  s.check_pe(pe);
  // A kernel cannot write to every kind of host memory, so the next quiet() copies the value to `result`.
  s.state().fetch_nonblocking(s.atomic_request(update, pe), result);
  s.count(update, pe);
}

void enqueue_update(const op_target& how, const atomic_op& update, void* result, int pe) {
  const char* const what = name_of(operation_of(update.how, update.fetches || result != nullptr));
  host_operation s(how, what);
  s.check_pe(pe);
  const std::size_t bytes = size_of(update.as);
  operation_request request = s.atomic_request(update, pe);
  if (reinterpret_cast<std::uintptr_t>(result) % bytes != 0)
    throw error(code::misaligned,
                fmt::format("{}: the place for the result, {}, is not a multiple of {} bytes", what, result, bytes));
  s.check_kernel_memory(result, "the place for the result");
  request.result = result;
  s.submit(request);
  s.count(update, pe);
  s.finish(pe);
}

}  // namespace pgas::detail
