#include "pgas/stream.hpp"

#include <utility>

#include "host/world/world_state.hpp"

namespace pgas {

stream::stream(world& of) : stream(of.state().shared_from_this(), of.state().device().create_stream(), true) {}

stream::stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept
    : state_(std::move(state)), native_(native), owned_(owned) {}

stream stream::wrap(world& of, void* native) {
  if (of.heap() != heap_kind::cuda)
    throw error(code::invalid_argument, "stream::wrap: a world on the host heap has no CUDA streams; make a pgas::stream");
  return {of.state().shared_from_this(), native, false};
}

stream::stream(stream&& other) noexcept
    : state_(std::move(other.state_)), native_(std::exchange(other.native_, nullptr)), owned_(std::exchange(other.owned_, false)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    const stream left_behind(std::move(*this));
    state_ = std::move(other.state_);
    native_ = std::exchange(other.native_, nullptr);
    owned_ = std::exchange(other.owned_, false);
  }
  return *this;
}

stream::~stream() {
  if (owned_) state_->device().destroy_stream(native_);
}

void stream::synchronize() {
  if (!state_) throw error(code::invalid_argument, "this stream object is empty: it was moved from");
  state_->synchronize(native_);
}

namespace detail {

void put_bytes(world& w, const stream& on, void* to, const void* from, std::size_t bytes, int pe) {
  world_state& state = w.state();
  state.check();
  state.check_pe(pe, "put on a stream");
  if (bytes == 0) return;
  state.check_symmetric(to, bytes, 1, "put on a stream");
  if (from == nullptr) throw error(code::invalid_argument, "put on a stream: the source is null");
  const trace_range range(state, "pgas::put on stream");
  state.device().copy(state.remote(to, pe), from, bytes, on.native());
}

void get_bytes(world& w, const stream& on, void* to, const void* from, std::size_t bytes, int pe) {
  world_state& state = w.state();
  state.check();
  state.check_pe(pe, "get on a stream");
  if (bytes == 0) return;
  state.check_symmetric(from, bytes, 1, "get on a stream");
  if (to == nullptr) throw error(code::invalid_argument, "get on a stream: the destination is null");
  const trace_range range(state, "pgas::get on stream");
  state.device().copy(to, state.remote(from, pe), bytes, on.native());
}

}  // namespace detail

void barrier_all(world& w, const stream& on) {
  detail::world_state& state = w.state();
  state.check();
  const detail::trace_range range(state, "pgas::barrier_all on stream");
  state.device().barrier(state.context(), state.context().world(), on.native());
}

}  // namespace pgas
