#include "pgas/stream_atomic.hpp"

#include <fmt/format.h>

#include "host/error/device_failure.hpp"
#include "host/team/host_operation.hpp"

namespace pgas::detail {

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
  s.finish(pe);
}

}  // namespace pgas::detail
