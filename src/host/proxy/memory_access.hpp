/// @file
/// The access of a proxy to memory of its own PE: its slot of the heap, for other PEs, and the local buffers of
/// commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/operation_request.hpp"
#include "pgas/detail/datatype_and_update.hpp"

namespace pgas::detail {

class device;

/// `count` blocks of `bytes`, `step` bytes from the start of one to the start of the next.
struct block_list {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t step = 0;
};

/// Calls take effect in their order, but not at once: complete() waits for them.
/// *Callers* the proxy thread. *Errors* code::device_failed where a device is involved.
class memory_access {
 public:
  virtual ~memory_access() = default;
  memory_access() = default;
  memory_access(const memory_access&) = delete;
  memory_access& operator=(const memory_access&) = delete;

  /// Writes blocks at `to` from contiguous host memory, which may be reused on return. Naturally aligned words of up to
  /// 8 bytes are written whole. A thread that acquires one of them sees all earlier writes.
  virtual void write(void* to, const void* from, const block_list& blocks) = 0;
  /// Reads blocks at `from` into contiguous host memory, which is filled when nothing is pending() and has to live
  /// until then. Writes released before a value was are visible to PEs that learn of the value from this thread.
  virtual void read(void* to, const void* from, const block_list& blocks) = 0;
  /// Executes an atomic operation, atomic with those of kernels, of direct peers, and of the host.
  /// @param old receives the 8 bytes of batched_atomic::old, as read() does; null: nothing
  virtual void update(const batched_atomic& what, std::byte* old) = 0;
  /// On return all writes are visible to all PEs that learn of them, and all reads have been filled.
  virtual void complete() = 0;
  /// Whether a call waits for complete().
  [[nodiscard]] virtual bool pending() const noexcept = 0;
  /// Whether loads and stores of this process work on the memory.
  [[nodiscard]] virtual bool host_accessible() const noexcept = 0;
  /// Whether transports may write the memory: false where their writes can't be ordered before a later signal.
  [[nodiscard]] virtual bool transports_may_write() const noexcept { return true; }
  /// Orders all writes of transports so far before the effects of later calls.
  virtual void admit_transport_writes() {}
  /// Memory for messages that read() fills without a further copy; lives as long as this.
  [[nodiscard]] virtual std::span<std::byte> buffers() noexcept { return {}; }
};

/// For memory of the host, also if other processes have mapped it.
[[nodiscard]] std::unique_ptr<memory_access> make_host_memory_access();

/// Sizes of the pinned memory of a proxy.
struct pinned_sizes {
  std::size_t staging_bytes = std::size_t{1} << 20;  ///< for writes, and reads into other memory, in flight at once
  std::size_t updates = 4096;                        ///< in flight at once
  std::size_t buffer_bytes = std::size_t{4} << 20;   ///< for messages
};

/// For memory that `backend` can copy. All work is ordered on one stream, synchronized only when results are needed.
/// Copy engines execute puts and signals that are set; other atomic operations are batched for device::update().
/// @param for_peers whether kernels of other devices have mapped the memory
[[nodiscard]] std::unique_ptr<memory_access> make_device_memory_access(device& backend, const pinned_sizes& sizes = {},
                                                                       bool for_peers = true);

}  // namespace pgas::detail
