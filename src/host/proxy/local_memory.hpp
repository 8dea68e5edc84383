/// @file
/// How a proxy touches memory of its own PE: its part of the heap, on behalf of other PEs, and the local buffers that
/// commands name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/shared/operation.hpp"
#include "pgas/detail/datatype.hpp"

namespace pgas::detail {

class device;

/// `count` blocks of `bytes`, `step` bytes from the start of one to the start of the next.
struct block_list {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t step = 0;
};

/// What is asked for here takes effect in the order of the calls, but not at once: complete() waits for it.
/// *Callers* the proxy thread. *Errors* code::device_failed where a device is involved.
class proxy_memory {
 public:
  virtual ~proxy_memory() = default;
  proxy_memory() = default;
  proxy_memory(const proxy_memory&) = delete;
  proxy_memory& operator=(const proxy_memory&) = delete;

  /// Writes blocks at `to` from one contiguous piece of host memory, which may be reused on return. Naturally aligned
  /// words of up to 8 bytes arrive whole. Whoever sees one and acquires it also sees what was written before this call.
  virtual void write(void* to, const void* from, const block_list& blocks) = 0;
  /// Reads blocks at `from` into one contiguous piece of host memory, which stays until they are there: while nothing
  /// is pending(). What was released before a value is visible to whoever learns of it from this thread.
  virtual void read(void* to, const void* from, const block_list& blocks) = 0;
  /// Carries out an atomic operation, atomic with those of kernels, of peers by load and store, and of the host.
  /// @param old where the 8 bytes of batched_atomic::old go, as those of read(); null: nowhere
  virtual void update(const batched_atomic& what, std::byte* old) = 0;
  /// On return all that was written is visible to everybody who learns of it, and all that was read is there.
  virtual void complete() = 0;
  /// Whether something asked for waits for complete().
  [[nodiscard]] virtual bool pending() const noexcept = 0;
  /// Plain loads and stores of this process work there.
  [[nodiscard]] virtual bool host_accessible() const noexcept = 0;
  /// Whether transports may write there themselves: what they write can be made visible in time.
  [[nodiscard]] virtual bool transports_may_write() const noexcept { return true; }
  /// Whoever sees what is asked for from now on also sees what transports have written there themselves so far.
  virtual void admit_transport_writes() {}
  /// Memory for messages that read() fills without a copy in between; lives as long as this.
  [[nodiscard]] virtual std::span<std::byte> buffers() noexcept { return {}; }
};

/// Memory of the host, also what other processes have mapped.
[[nodiscard]] std::unique_ptr<proxy_memory> make_host_proxy_memory();

/// Pinned memory that a proxy takes.
struct pinned_sizes {
  std::size_t staging_bytes = std::size_t{1} << 20;  ///< on the way at once, in what is written and read elsewhere
  std::size_t updates = 4096;                        ///< on the way at once
  std::size_t buffer_bytes = std::size_t{4} << 20;   ///< for messages
};

/// Whatever `backend` can copy from and to, in order on a stream that is waited for only when results are needed. Puts
/// and signals that are set go by the copy engines; other atomic operations are collected for device::update().
/// @param for_peers whether kernels of other devices have the memory mapped
[[nodiscard]] std::unique_ptr<proxy_memory> make_device_proxy_memory(device& backend, const pinned_sizes& sizes = {},
                                                                     bool for_peers = true);

}  // namespace pgas::detail
