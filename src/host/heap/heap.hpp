/// @file
/// The symmetric heap: one virtual layout of equal slots, filled with segments as allocations need them: from the start
/// on with those of all PEs, in the upper half with windows of some.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "host/heap/team_segments.hpp"
#include "host/heap/user_buffers.hpp"
#include "host/log/log.hpp"
#include "pgas/config.hpp"
#include "pgas/heap.hpp"

namespace pgas::detail {

/// This PE's view of the heap of all PEs. The slots of the layout hold the segments of the members of its domain, in
/// their order; segment i lies at the same offset in every slot, and so it does on PEs out of reach.
class heap {
 public:
  using growth_callback = symmetric_allocator::growth_callback;

  /// Collective: finds out who can share memory, agrees on stride, base and kind of handle, reserves the layout. No
  /// memory yet. *Errors* address_space, handle_exchange (naming what was probed and what each attempt answered),
  /// mixed_heaps; the same error on all PEs.
  /// @param allow_proxied whether PEs of a host that can't share memory have another way: then that is no error
  heap(device& device, const control_group& everyone, const config& settings, log::logger& log,
       growth_callback on_growth, team_segments::change_callback on_windows = {}, bool allow_proxied = false);
  ~heap();

  /// Who shares memory with this PE.
  [[nodiscard]] const domains& near() const noexcept;
  /// Makes the memory that comes from now on known to what reaches the other PEs, which outlives it.
  void attach_proxy(proxy& far) noexcept;

  /// What all PEs allocate from. *Callers* one thread at a time.
  [[nodiscard]] symmetric_allocator& memory() noexcept;
  /// The same for the members of a group, which must outlive it.
  [[nodiscard]] std::unique_ptr<symmetric_allocator> make_arena(const control_group& members);
  [[nodiscard]] class team_segments& team_segments() noexcept;
  /// Memory made elsewhere. *Callers* as memory().
  [[nodiscard]] class user_buffers& user_buffers() noexcept;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool zeros = false) {
    return memory().allocate(bytes, alignment, zeros);
  }
  void free(void* pointer) { memory().free(pointer); }
  [[nodiscard]] heap_usage usage() const;
  /// Bytes of the allocation of all PEs that starts at `pointer`, rounding included; 0 if none does.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const;

  /// Where the part of PE `pe` starts, which is near.
  [[nodiscard]] std::byte* slot(int pe) const noexcept;
  [[nodiscard]] int log2_stride() const noexcept;
  /// Whether all PEs have the layout at the same address.
  [[nodiscard]] bool same_base() const noexcept;
  [[nodiscard]] handle_kind kind() const noexcept;
  /// Bytes of this PE's slot with memory of all PEs behind them. *Callers* any thread.
  [[nodiscard]] std::size_t mapped_bytes() const noexcept;
  /// Whether [pointer, pointer + bytes) lies in this PE's mapped memory, windows included. *Callers* any thread.
  [[nodiscard]] bool contains(const void* pointer, std::size_t bytes) const;
  /// The same by the distance from the start of the slot.
  [[nodiscard]] bool maps(std::size_t offset, std::size_t bytes) const;
  /// Whether PE `pe` has memory where this PE has `pointer`. *Callers* any thread.
  [[nodiscard]] bool reaches(const void* pointer, int pe) const;
  [[nodiscard]] const allocator_resources& ground() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace pgas::detail
