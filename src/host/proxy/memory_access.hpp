/// @file
/// A proxy's access to the memory of its own PE: the PE's slot of the heap, which other PEs access, and the local
/// buffers of commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/operation_request.hpp"
#include "pgas/detail/datatype_and_update.hpp"

namespace pgas::detail {

class device;

/// `count` blocks of `bytes`. `step` is the number of bytes from the start of one block to the start of the next.
struct block_list {
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t step = 0;
};

/// Calls take effect in their order, but later: complete() waits until all calls have taken effect.
/// *Callers* the proxy thread. *Errors* code::device_failed if a device is involved.
class memory_access {
 public:
  virtual ~memory_access() = default;
  memory_access() = default;
  memory_access(const memory_access&) = delete;
  memory_access& operator=(const memory_access&) = delete;

  /// Writes blocks at `to` from contiguous host memory, which may be reused on return. A naturally aligned word of up
  /// to 8 bytes is written by a single access. A thread that acquires one of these words sees all earlier writes.
  virtual void write(void* to, const void* from, const block_list& blocks) = 0;
  /// Reads blocks at `from` into contiguous host memory. The host memory is filled when pending() is false, and must
  /// stay valid until then. A read acquires. If this thread then sends the value to another PE, that PE sees all writes
  /// that were released before the value.
  virtual void read(void* to, const void* from, const block_list& blocks) = 0;
  /// Executes an operation that is atomic with the operations of kernels, of direct peers, and of the host.
  /// @param old receives the 8 bytes of batched_atomic::old, as read() does; null: not needed
  virtual void update(const batched_atomic& what, std::byte* old) = 0;
  /// On return the targets of all reads are filled, and all writes are visible to PEs that this thread informs
  /// afterwards.
  virtual void complete() = 0;
  /// Whether calls are in flight that complete() has not completed.
  [[nodiscard]] virtual bool pending() const noexcept = 0;
  /// Whether this process can access the memory by loads and stores.
  [[nodiscard]] virtual bool host_accessible() const noexcept = 0;
  /// Whether transports may write the memory. False if their writes cannot be ordered before a later signal.
  [[nodiscard]] virtual bool transports_may_write() const noexcept { return true; }
  /// Orders all earlier writes of transports before the effects of later calls.
  virtual void admit_transport_writes() {}
  /// Memory for messages. read() fills this memory without a further copy. The memory is valid as long as this object
  /// exists.
  [[nodiscard]] virtual std::span<std::byte> buffers() noexcept { return {}; }
};

/// Makes the access to host memory. It is possible that other processes have mapped the memory.
[[nodiscard]] std::unique_ptr<memory_access> make_host_memory_access();

/// The sizes of a proxy's pinned memory.
struct pinned_sizes {
  std::size_t staging_bytes = std::size_t{1} << 20;  ///< for writes in flight, and reads into memory outside buffers()
  std::size_t updates = 4096;                        ///< the number of updates in flight at the same time
  std::size_t buffer_bytes = std::size_t{4} << 20;   ///< memory for messages
};

/// Makes the access to memory that `backend` can copy. All work is ordered on one stream, which is synchronized only
/// when results are needed. Copy engines execute puts, and atomic operations that set a signal. Other atomic operations
/// are batched for device::update().
/// @param for_peers whether kernels of other devices have mapped the memory
[[nodiscard]] std::unique_ptr<memory_access> make_device_memory_access(device& backend, const pinned_sizes& sizes = {},
                                                                       bool for_peers = true);

}  // namespace pgas::detail
