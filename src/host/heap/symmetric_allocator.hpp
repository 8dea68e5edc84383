/// @file
/// Allocations that all members of a group make together.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/heap/team_segments.hpp"
#include "pgas/heap.hpp"

namespace pgas::detail {

/// What all arenas of a world build on.
struct allocator_resources {
  class device& device;
  const segment_access& reach;
  const heap_parameters& terms;
  handle_kind kind;
};

/// Segments at the same offset of all members' slots, and what is allocated in them. Allocation is deterministic:
/// members talk to one another only when a segment is needed. *Callers* one thread at a time.
class symmetric_allocator {
 public:
  /// Called after each change of the mapped size, with the bytes now mapped.
  using growth_callback = std::function<void(std::size_t mapped_bytes)>;

  /// The memory of all PEs: segments follow one another from the start of the slots, up to `limit` bytes.
  symmetric_allocator(const control_group& everyone, const allocator_resources& ground, std::size_t limit,
                      growth_callback on_growth);
  /// The memory of some: segments are windows.
  symmetric_allocator(const control_group& members, const allocator_resources& ground, team_segments& where);
  ~symmetric_allocator();
  symmetric_allocator(const symmetric_allocator&) = delete;
  symmetric_allocator& operator=(const symmetric_allocator&) = delete;

  /// Collective: same arguments on all members. Communicates only when a new segment is needed, or with checks on.
  /// *Units* bytes. *Memory* alignment: a power of two up to largest_alignment(); at least 16, and 512 from 512 bytes
  /// on, 2 MiB from 2 MiB on. *On return* the memory is not initialised. A request of 0 bytes gives null. *Errors*
  /// out_of_memory naming PE, requested, free and largest free; the memory is then as it was, on all members.
  /// asymmetric_call with checks on.
  /// @param zeros whether the caller will clear it together with the others; only compared
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool zeros = false);
  [[nodiscard]] std::size_t largest_alignment() const noexcept { return ground_.reach.slots.alignment(); }
  /// Why this PE can't align to `alignment`, if it can't.
  [[nodiscard]] std::optional<error> refuse_alignment(std::size_t alignment) const;
  /// Collective, with a barrier before the memory can be handed out again. Null is ignored.
  /// *Errors* invalid_free, before the barrier.
  void free(void* pointer);
  /// Gives all windows back, whatever is allocated there. Members wait for one another before.
  void clear() noexcept;

  [[nodiscard]] heap_usage usage() const;
  /// Bytes of the allocation that starts at `pointer`, rounding included; 0 if there is none.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const;
  /// Bytes behind each slot.
  [[nodiscard]] std::size_t mapped() const noexcept { return mapped_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] std::byte* my_slot() const noexcept { return ground_.reach.slot(group_.world_pe(group_.my_pe())); }
  [[nodiscard]] error no_room(const collective_step& call) const;
  [[nodiscard]] std::string numbers() const;
  void grow(offset_allocator::request wanted, const collective_step& call);
  [[nodiscard]] bool try_growth(std::size_t bytes, const collective_step& call, const std::optional<error>& refused,
                                bool last);
  [[nodiscard]] sharing_result share(std::optional<std::size_t> at, std::size_t bytes, const collective_step& call,
                                     const std::optional<error>& refused);

  const control_group& group_;
  const allocator_resources ground_;
  const std::size_t limit_;
  const growth_callback on_growth_;
  team_segments* const team_segments_ = nullptr;
  offset_allocator offsets_;
  std::vector<std::unique_ptr<shared_segment>> segments_;  ///< the oldest first; of all PEs' memory only
  std::vector<std::size_t> mine_;                          ///< offsets of its windows
  std::atomic<std::size_t> mapped_{0};
};

}  // namespace pgas::detail
