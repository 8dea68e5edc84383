// The handle of a stream. Operations on streams are implemented in the files of their blocking forms: put and fence in
// rma.cpp, barriers in collective.cpp.
#include <utility>

#include "host/world/world_state.hpp"
#include "pgas/stream.hpp"

namespace pgas {

stream::stream(world& w) : stream(w.state().shared_from_this(), w.state().device().create_stream(), true) {
  state_->add_stream(native_);
}

stream::stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept
    : state_(std::move(state)), native_(native), owned_(owned) {}

stream stream::wrap(world& w, void* native) {
  return {w.state().shared_from_this(), w.state().device().wrap_stream(native), false};
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
      state_->remove_stream(native_);  // the world forgets the stream, which the program may destroy from now on
      state_->log().error(
          "a stream that is still being captured into a CUDA graph is not destroyed: end the capture first");
      return;
    }
  } catch (const std::exception&) {
    // The device has failed. The stream is destroyed nevertheless.
  }
  try {
    state_->device().synchronize(native_);
  } catch (const std::exception&) {
    // An error of the stream's work is dropped with the stream.
  }
  state_->remove_stream(native_);
  state_->device().destroy_stream(native_);
}

void stream::synchronize() {
  if (!state_) throw error(code::invalid_argument, "this stream object is empty: it was moved from");
  state_->check_process();
  state_->check_not_captured(native_, "stream::synchronize");
  state_->synchronize(native_);
}

void* stream::native(const detail::world_state& state) const {
  if (!state_) throw error(code::invalid_argument, "this stream object is empty: it was moved from");
  if (state_.get() != &state)
    throw error(code::invalid_argument, "this stream belongs to another world: use a stream of this world");
  return native_;
}

}  // namespace pgas
