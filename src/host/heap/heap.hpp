/// @file
/// The symmetric heap: one virtual layout of equal slots, filled with segments as allocations need them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "host/world/links.hpp"
#include "pgas/config.hpp"
#include "pgas/heap.hpp"

namespace pgas::detail {

/// This PE's view of the heap of all PEs. Slot p of the layout holds PE p's segments; segment i lies at the same offset
/// in every slot. *Callers* one thread at a time.
class heap {
 public:
  /// Called after each change of the mapped size, with the bytes now mapped in each slot.
  using growth_callback = std::function<void(std::size_t mapped_bytes)>;

  /// Collective: agrees on stride, base and kind of handle, reserves the layout. No memory yet.
  /// *Errors* address_space, handle_exchange (naming what was probed and what each attempt answered), mixed_heaps; the
  /// same error on all PEs.
  heap(device& device, links& links, const config& settings, log::logger& log, growth_callback on_growth);
  ~heap();

  /// Collective: same arguments on all PEs. Communicates only when a new segment is needed.
  /// *Units* bytes. *Memory* alignment: a power of two up to 2 MiB granularity; at least 16, and 512 from 512 bytes on,
  /// 2 MiB from 2 MiB on. *On return* the memory is not initialised. A request of 0 bytes gives null.
  /// *Errors* out_of_memory naming PE, requested, free and largest free; the heap is then as it was, on all PEs.
  /// asymmetric_call with checks on.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
  /// Collective, with a barrier before the memory can be handed out again. Null is ignored.
  /// *Errors* invalid_free, before the barrier.
  void free(void* pointer);

  /// Bytes of the allocation that starts at `pointer`, rounding included; 0 if none does.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const;

  [[nodiscard]] std::byte* slot(int pe) const noexcept;
  [[nodiscard]] int log2_stride() const noexcept;
  /// Whether all PEs have the layout at the same address.
  [[nodiscard]] bool same_base() const noexcept;
  [[nodiscard]] handle_kind kind() const noexcept;
  [[nodiscard]] heap_usage usage() const;
  /// Bytes of this PE's slot with memory behind them. *Callers* any thread.
  [[nodiscard]] std::size_t mapped_bytes() const noexcept;
  /// Whether [pointer, pointer + bytes) lies in this PE's mapped memory. *Callers* any thread.
  [[nodiscard]] bool contains(const void* pointer, std::size_t bytes) const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace pgas::detail
