/// @file
/// Streams: queues of work that runs in order, asynchronously to the host. On a GPU heap a stream is a CUDA stream; on
/// the host heap it is a thread with a queue. The operations on streams are in stream_rma.hpp, stream_signal.hpp,
/// stream_wait.hpp, stream_atomic.hpp and collective.hpp.
///
/// A CUDA graph can capture a CUDA stream. During a capture, enqueued work becomes part of the graph, which can be
/// replayed any number of times. A call that would have to wait for a stream in a capture throws code::capturing and
/// does not change the capture. Calls on other streams do not disturb a capture of any mode.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <memory>

#include "pgas/world.hpp"

namespace pgas {

/// @brief A stream of one world.
///
/// Move-only.
class PGAS_API stream {
 public:
  /// @brief Creates a stream.
  ///
  /// *Callers* any thread.
  explicit stream(world& joined);
  /// @brief Wraps a stream of the application (a `cudaStream_t`, null for CUDA's default stream) without owning it.
  ///
  /// This constructor is for worlds on a GPU heap only. The object is cheap enough to create for each use.
  ///
  /// @throws error invalid_argument on the host heap.
  [[nodiscard]] static stream wrap(world& joined, void* native);

  /// @brief Moves the stream.
  ///
  /// `other` is empty afterwards.
  stream(stream&& other) noexcept;
  /// @brief Destroys the current stream, then moves the stream.
  stream& operator=(stream&& other) noexcept;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  /// @brief Waits for the enqueued work, unless the object wraps a stream of the application.
  ///
  /// If the stream is in a capture, the destructor does not destroy the stream, and logs a message.
  ~stream();

  /// @brief Returns when all enqueued work has been executed.
  ///
  /// @throws error as world::synchronize(); capturing.
  void synchronize();
  /// @brief The `cudaStream_t`, or the backend's own handle on the host heap.
  [[nodiscard]] void* native() const noexcept { return native_; }

  /// @brief Returns native() if the stream belongs to the world `state`. For functions of the library.
  ///
  /// @throws error invalid_argument if the stream belongs to another world.
  [[nodiscard]] void* native(const detail::world_state& state) const;

 private:
  stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept;
  std::shared_ptr<detail::world_state> state_;
  void* native_ = nullptr;
  bool owned_ = false;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
