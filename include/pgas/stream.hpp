/// @file
/// Streams: queues of work that runs in order, asynchronously to the host. On a GPU heap a stream is a CUDA stream; on
/// the host heap it is a thread with a queue. The operations on streams are in stream_rma.hpp, stream_signal.hpp,
/// stream_wait.hpp, stream_atomic.hpp and collective.hpp.
///
/// A CUDA stream may be captured into a graph: enqueued work then becomes part of the graph, which can be replayed any
/// number of times. A call that would have to wait for the stream throws code::capturing and leaves the capture as it
/// was. Calls on other streams do not disturb a capture, whatever its mode.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <memory>

#include "pgas/world.hpp"

namespace pgas {

/// A stream of one world. Move-only.
class PGAS_API stream {
 public:
  /// Makes a stream of its own. *Callers* any thread.
  explicit stream(world& of);
  /// Uses a stream of the application (a `cudaStream_t`, null for CUDA's default stream) without owning it. Only for
  /// worlds on a GPU heap. Cheap enough to make one for each use. *Errors* invalid_argument on the host heap, whose
  /// streams are not the application's.
  [[nodiscard]] static stream wrap(world& of, void* native);

  /// Takes over the stream; `other` is empty then.
  stream(stream&& other) noexcept;
  /// The same, after destroying its own stream.
  stream& operator=(stream&& other) noexcept;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  /// Waits for the work enqueued, unless the stream was wrapped. A stream that is still being captured is logged and
  /// not destroyed.
  ~stream();

  /// Returns when all enqueued work has been executed. *Errors* as world::synchronize(); capturing.
  void synchronize();
  /// The `cudaStream_t`, or the backend's own handle on the host heap.
  [[nodiscard]] void* native() const noexcept { return native_; }

  /// For the library's own functions: native(), if the stream belongs to `of`. *Errors* invalid_argument.
  [[nodiscard]] void* native(const detail::world_state& of) const;

 private:
  stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept;
  std::shared_ptr<detail::world_state> state_;
  void* native_ = nullptr;
  bool owned_ = false;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
