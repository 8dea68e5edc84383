/// @file
/// How a proxy touches memory of its own PE: its part of the heap, on behalf of other PEs, and the local buffers that
/// commands name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/operation.hpp"
#include "pgas/detail/word_kind.hpp"

namespace pgas::detail {

class device;

/// `count` blocks of `bytes`, `step` bytes from the start of one to the start of the next.
struct block_list {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t step = 0;
};

/// *Callers* the proxy thread. *Errors* code::device_failed where a device is involved.
class proxy_memory {
 public:
  virtual ~proxy_memory() = default;
  proxy_memory() = default;
  proxy_memory(const proxy_memory&) = delete;
  proxy_memory& operator=(const proxy_memory&) = delete;

  /// Writes blocks at `to` from one contiguous piece of host memory, which may be reused on return. Naturally aligned
  /// words of up to 8 bytes arrive whole. Whoever sees one and acquires it also sees what was written before this call.
  /// Visible by the next update() or complete().
  virtual void write(void* to, const void* from, const block_list& blocks) = 0;
  /// Reads blocks at `from` into one contiguous piece of host memory: what was released before a value is visible to
  /// whoever learns of it from this thread.
  virtual void read(void* to, const void* from, const block_list& blocks) = 0;
  /// Carries out an atomic operation and returns the bits of the old value, which `set` may leave out. Atomic with
  /// those of kernels, of peers by load and store, and of the host. Comes after everything written before.
  virtual std::uint64_t update(void* at, atomic_update how, word_kind as, std::uint64_t value,
                               std::uint64_t condition) = 0;
  /// On return all that was written is visible to everybody who learns of it.
  virtual void complete() = 0;
  /// Plain loads and stores of this process work there.
  [[nodiscard]] virtual bool host_accessible() const noexcept = 0;
};

/// proxy_memory::update() as a request that devices take; released behind what was written before.
[[nodiscard]] inline operation_request update_request(void* at, atomic_update how, word_kind as, std::uint64_t value,
                                                      std::uint64_t condition) {
  operation_request request;
  request.what = operation_request::kind::atomic;
  request.how = how;
  request.as = as;
  request.release = true;
  request.to = at;
  request.value[0] = value;
  request.condition = condition;
  return request;
}

/// Memory of the host, also what other processes have mapped.
[[nodiscard]] std::unique_ptr<proxy_memory> make_host_proxy_memory();

/// Whatever `backend` can copy from and to, through a pinned buffer. Puts and signals that are set go by the copy
/// engines; other atomic operations run as device::fetch().
[[nodiscard]] std::unique_ptr<proxy_memory> make_device_proxy_memory(device& backend);

}  // namespace pgas::detail
