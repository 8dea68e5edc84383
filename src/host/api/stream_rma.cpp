// Fences and barriers in the order of a stream. Copies on a stream are in rma.cpp: one function makes them for the host
// and for streams.
#include "pgas/stream_rma.hpp"

#include "host/team/host_operation.hpp"
#include "host/team/world_state.hpp"
#include "pgas/collective.hpp"

namespace pgas {

void quiet(world& w, const stream& on) {
  const detail::op_target how = detail::on_stream(w, on);
  detail::host_operation s(how, "quiet on a stream");
  detail::operation_request request;
  request.what = detail::operation_request::kind::quiet;
  request.here = s.state().context();
  s.device().enqueue(request, s.queue());
}

void fence(world& w, const stream& on) { quiet(w, on); }

void barrier_all(world& w, const stream& on) { barrier(w.team(), on); }
void sync_all(world& w, const stream& on) { sync(w.team(), on); }

}  // namespace pgas
