/// @file
/// The allocations that all members of a group make together, and the buffers that they register.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "host/exchange/collective_step.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/allocation_list.hpp"
#include "host/heap/growth_policy.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/heap/registered_buffers.hpp"
#include "host/heap/segment_exchange.hpp"
#include "pgas/symmetric_memory.hpp"

namespace pgas::detail {

/// Segments at the same offsets in the slots of all members, and the allocations in these segments. Allocation is
/// deterministic: members communicate only if they need a new segment. *Callers* one thread at a time.
class symmetric_allocator {
 public:
  /// All arguments except `growth` must outlive the object.
  symmetric_allocator(const control_group& group, segment_exchange& exchange, const heap_parameters& parameters,
                      team_segment_map& segments, std::unique_ptr<growth_policy> growth)
      : group_(group),
        exchange_(exchange),
        parameters_(parameters),
        growth_(std::move(growth)),
        buffers_(group, exchange, parameters, segments) {}
  symmetric_allocator(const symmetric_allocator&) = delete;
  symmetric_allocator& operator=(const symmetric_allocator&) = delete;

  /// Collective, with the same arguments on all members. Communicates only if a new segment is needed, or if checks are
  /// on. *Units* bytes. *Memory* the alignment is a power of two up to largest_alignment(), and at least 16.
  /// Allocations of at least 512 bytes are aligned to 512 bytes, and allocations of at least 2 MiB to 2 MiB.
  /// *On return* the memory is not initialised. A request of 0 bytes gives null.
  /// *Errors* out_of_memory with the PE and the requested, free and largest free bytes; the memory is then unchanged on
  /// all members. If checks are on: asymmetric_call.
  /// @param zeros whether the caller clears the memory afterwards; this function only compares the value among the
  /// members
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool zeros = false);
  [[nodiscard]] std::size_t largest_alignment() const noexcept { return exchange_.slots().alignment(); }
  /// The error if this PE cannot align memory to `alignment`.
  [[nodiscard]] std::optional<error> refuse_alignment(std::size_t alignment) const;
  /// Takes the first segment, which all members have mapped. Not collective.
  void adopt(std::unique_ptr<group_segment> first);
  /// Frees an allocation. Collective, with a barrier before the memory can be allocated again. Null has no effect.
  /// *Errors* invalid_free, before the barrier.
  void free(void* pointer);
  [[nodiscard]] class registered_buffers& registered_buffers() noexcept { return buffers_; }
  /// Unmaps all segments and removes all allocations and registrations. The caller synchronises the members first.
  void clear() noexcept;

  [[nodiscard]] heap_usage usage() const;
  /// The size in bytes of the allocation that starts at `pointer`, after rounding; 0 if no allocation starts at this
  /// address.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const;
  /// The live allocations, for reports. *Callers* any thread.
  [[nodiscard]] const allocation_list& list() const noexcept { return list_; }
  /// The size of this PE's segments in bytes. *Callers* any thread.
  [[nodiscard]] std::size_t mapped() const noexcept { return mapped_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] std::byte* own_slot() const noexcept { return exchange_.own_slot(group_); }
  [[nodiscard]] error no_room(const collective_step& call) const;
  [[nodiscard]] error out_of_memory(const error& first, const collective_step& call) const;
  void grow(offset_allocator::request wanted, const collective_step& call);
  void add_segment(std::size_t bytes, const collective_step& call, const std::optional<error>& refused);

  const control_group& group_;
  segment_exchange& exchange_;
  const heap_parameters& parameters_;
  const std::unique_ptr<growth_policy> growth_;
  offset_allocator offsets_;
  allocation_list list_;
  class registered_buffers buffers_;
  std::atomic<std::size_t> mapped_{0};
};

}  // namespace pgas::detail
