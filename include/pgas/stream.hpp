/// @file
/// Streams: queues of work that runs in order, beside the host. On a GPU heap a stream is a CUDA stream; on the host heap
/// it is a thread that works through a queue.
#pragma once

#include <memory>

#include "pgas/rma.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// A stream of one world. Move-only.
class PGAS_API stream {
 public:
  /// Makes a stream of its own. *Callers* any thread.
  explicit stream(world& of);
  /// Uses a stream of the application (a `cudaStream_t`) without owning it. Only for worlds on a GPU heap.
  /// *Errors* invalid_argument on the host heap, whose streams are not the application's.
  [[nodiscard]] static stream wrap(world& of, void* native);

  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  /// Waits for the work enqueued, unless the stream was wrapped.
  ~stream();

  /// Returns when everything enqueued has been carried out. *Errors* as world::synchronize().
  void synchronize();
  /// The `cudaStream_t`, or the backend's own handle on the host heap.
  [[nodiscard]] void* native() const noexcept { return native_; }

 private:
  stream(std::shared_ptr<detail::world_state> state, void* native, bool owned) noexcept;
  std::shared_ptr<detail::world_state> state_;
  void* native_ = nullptr;
  bool owned_ = false;
};

namespace detail {
PGAS_API void put_bytes(world& w, const stream& on, void* to, const void* from, std::size_t bytes, int pe);
PGAS_API void get_bytes(world& w, const stream& on, void* to, const void* from, std::size_t bytes, int pe);
}  // namespace detail

/// put() once the stream gets there. Arguments are checked at the call.
/// *Memory* `source` must stay valid and unchanged until then; pageable host memory may be read before the call returns.
/// *Order* after everything enqueued earlier on this stream; complete at `pe` before what is enqueued later.
template <rma_type T>
void put(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(w, on, destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// get() once the stream gets there.
template <rma_type T>
void get(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(w, on, destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// Collective: a barrier of all PEs once the stream gets there; what was enqueued before it is visible to every PE after
/// it. Can be captured in a CUDA graph and replayed.
PGAS_API void barrier_all(world& w, const stream& on);

}  // namespace pgas
