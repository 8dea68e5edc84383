#include "pgas/stream.hpp"

#include <utility>

#include "host/team/host_operation.hpp"
#include "host/team/world_state.hpp"
#include "pgas/collective.hpp"
#include "pgas/stream_rma.hpp"

namespace pgas {

stream::stream(world& of) : stream(of.state().shared_from_this(), of.state().device().create_stream(), true) {}

stream::stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept
    : state_(std::move(state)), native_(native), owned_(owned) {}

stream stream::wrap(world& of, void* native) {
  return {of.state().shared_from_this(), of.state().device().wrap_stream(native), false};
}

stream::stream(stream&& other) noexcept
    : state_(std::move(other.state_)),
      native_(std::exchange(other.native_, nullptr)),
      owned_(std::exchange(other.owned_, false)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    const stream previous(std::move(*this));
    state_ = std::move(other.state_);
    native_ = std::exchange(other.native_, nullptr);
    owned_ = std::exchange(other.owned_, false);
  }
  return *this;
}

stream::~stream() {
  if (!owned_ || state_->forked()) return;
  try {
    if (state_->device().capturing(native_)) {
      state_->log().error(
          "a stream that is still being captured into a CUDA graph is not destroyed: end the capture first");
      return;
    }
  } catch (const std::exception&) {
    // The device has failed: the stream is destroyed like any other.
  }
  state_->device().destroy_stream(native_);
}

void stream::synchronize() {
  if (!state_) throw error(code::invalid_argument, "this stream object is empty: it was moved from");
  state_->check_process();
  state_->check_not_captured(native_, "stream::synchronize");
  state_->synchronize(native_);
}

void* stream::native(const detail::world_state& of) const {
  if (!state_) throw error(code::invalid_argument, "this stream object is empty: it was moved from");
  if (state_.get() != &of)
    throw error(code::invalid_argument, "this stream belongs to another world: make one of this world");
  return native_;
}

namespace detail {

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

}  // namespace detail

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
