#include "pgas/stream_signal_wait.hpp"

#include "host/team/host_operation.hpp"
#include "host/team/world_state.hpp"

namespace pgas::detail {

void enqueue_wait(world& w, const stream& on, const word_set& set) {
  const op_target how = on_stream(w, on);
  host_operation s(how, "wait_until on a stream");
  s.check_compare(set.compare);
  if (set.count == 0) return;
  const std::size_t bytes = size_of(set.as);
  s.state().check_symmetric(set.words, byte_count(set.count, bytes), bytes, "wait_until on a stream");
  s.check_kernel_memory(set.status, "the status array");
  s.check_kernel_memory(set.values, "the array of values");
  operation_request request;
  request.what = operation_request::kind::wait;
  request.as = set.as;
  request.compare = set.compare;
  request.from = set.words;
  request.count = set.count;
  request.status = set.status;
  request.values = set.values;
  request.value[0] = set.value;
  request.here = s.state().context();
  s.device().enqueue(request, s.queue());
}

}  // namespace pgas::detail
