/// @file
/// Registered buffers: memory that the application, or another library, has made on every PE gets a second address
/// inside the heap, without a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "pgas/symmetric_memory.hpp"

namespace pgas {

class world;

/// Collective: maps the memory at [pointer, pointer + bytes) of every PE a second time, at the same offset of all
/// slots, and returns this PE's new address. Put, get, atomics and kernels take that address; loads and stores through
/// either address access the same memory. On GPUs a store of a kernel through one address may be invisible through the
/// other until that kernel ends (CUDA C++ Programming Guide, "Virtual Aliasing Support"): use one within a kernel.
///
/// *Callers* all PEs, with the same size, in segments of the same sizes; pointers may differ.
/// *Memory* on a GPU heap: segments of cuMemCreate on this PE's GPU with the kind of handle of the heap (a file
/// descriptor; a fabric handle where the log says so), one or more, whole, one behind the other. Memory of cudaMalloc
/// cannot be shared in this way. On the host heap: a shared mapping of memory files (memfd, or a file in /dev/shm) that
/// are open for writing in this process, each mapped whole. All sizes are multiples of 2 MiB, or of the larger
/// granularity of the GPU. With PGAS_MEM_HANDLE=cuda_ipc there is no such memory. The memory lives until it is
/// unregistered, even if its maker releases it before. *Errors* invalid_argument, handle_exchange or out_of_memory
/// naming the PE and the reason, asymmetric_call: the same on all PEs, and nothing has changed anywhere.
[[nodiscard]] PGAS_API void* register_symmetric(world& w, void* pointer, std::size_t bytes);

/// Collective: unmaps the second address. Null is ignored.
/// *Memory* the original stays as it is. *Order* as a barrier of all PEs; operations on it must have completed.
/// *Errors* invalid_free when `alias` is not what register_symmetric() returned, or was unregistered before.
PGAS_API void unregister_symmetric(world& w, void* alias);

/// Owns one registration. Move-only.
///
/// *Callers* construction and destruction are collective. Destroying it after the world was left is allowed.
/// *Errors* the destructor never throws; when it runs because an exception is unwinding this PE, it aborts the world
/// instead of waiting for PEs that may never come.
class PGAS_API registration {
 public:
  registration() = default;
  /// register_symmetric().
  registration(world& w, void* pointer, std::size_t bytes);
  /// Takes over the registration of `other`, which is empty then.
  registration(registration&& other) noexcept
      : world_(std::move(other.world_)),
        alias_(std::exchange(other.alias_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  /// The same after reset(): collective where something is registered.
  registration& operator=(registration&& other) noexcept {
    if (this != &other) {
      reset();
      world_ = std::move(other.world_);
      alias_ = std::exchange(other.alias_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  ~registration() { reset(); }

  /// This PE's symmetric address of the memory.
  [[nodiscard]] void* data() const noexcept { return alias_; }
  /// In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// Whether anything is registered.
  [[nodiscard]] explicit operator bool() const noexcept { return alias_ != nullptr; }
  /// Unregisters now. Collective.
  void reset() noexcept;

 private:
  std::shared_ptr<detail::world_state> world_;
  void* alias_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace pgas
