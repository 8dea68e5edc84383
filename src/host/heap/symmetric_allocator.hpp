/// @file
/// Allocations that all members of a group make together.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/control/control_group.hpp"
#include "host/control/exchange_results.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/heap/team_segment_map.hpp"
#include "pgas/symmetric.hpp"

namespace pgas::detail {

/// Where the segments of a symmetric_allocator lie, and how large they are. Owns them. *Callers* its allocator.
class growth_policy {
 public:
  /// @param limit bytes of all segments together @param limit_source the setting behind it, for messages
  /// @param first bytes of the first segment
  growth_policy(std::size_t limit, std::string limit_source, std::size_t first)
      : limit_(limit), limit_source_(std::move(limit_source)), first_(first) {}
  virtual ~growth_policy() = default;
  growth_policy(const growth_policy&) = delete;
  growth_policy& operator=(const growth_policy&) = delete;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] const std::string& limit_source() const noexcept { return limit_source_; }
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  /// Bytes by which `offsets` must grow for the request to fit.
  [[nodiscard]] virtual std::size_t growth_needed(const offset_allocator& offsets,
                                                  offset_allocator::request wanted) const = 0;
  /// Collective over `group`: the offset of a new segment, the same on all members; none where addresses are short.
  [[nodiscard]] virtual std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) = 0;
  /// Releases an offset of reserve() that no segment was made for.
  virtual void cancel(std::size_t offset) noexcept = 0;
  /// Keeps the segment that was made there.
  virtual void add(const control_group& group, std::size_t offset, std::unique_ptr<shared_segment> segment) = 0;
  /// Whether a segment lies around `offset`.
  [[nodiscard]] virtual bool contains(std::size_t offset) const = 0;
  /// Unmaps all segments. Members wait for one another before.
  virtual void clear() noexcept = 0;

 private:
  const std::size_t limit_;
  const std::string limit_source_;
  const std::size_t first_;
};

/// The memory of all PEs: segments follow one another from the start of the slots.
class contiguous_growth final : public growth_policy {
 public:
  /// Called after each change of the mapped size, with the bytes now mapped.
  using growth_callback = std::function<void(std::size_t mapped_bytes)>;

  contiguous_growth(const heap_parameters& parameters, std::size_t slot_bytes, growth_callback on_growth);
  ~contiguous_growth() override { contiguous_growth::clear(); }

  [[nodiscard]] std::size_t growth_needed(const offset_allocator& offsets,
                                          offset_allocator::request wanted) const override;
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) override;
  void cancel(std::size_t offset) noexcept override;
  void add(const control_group& group, std::size_t offset, std::unique_ptr<shared_segment> segment) override;
  [[nodiscard]] bool contains(std::size_t offset) const override { return offset < end_; }
  void clear() noexcept override;

 private:
  const growth_callback on_growth_;
  std::size_t end_ = 0;
  std::vector<std::unique_ptr<shared_segment>> segments_;  ///< the oldest first
};

/// The memory of a team: segments lie among the team segments, anywhere.
class team_growth final : public growth_policy {
 public:
  team_growth(const heap_parameters& parameters, team_segment_map& segments);

  [[nodiscard]] std::size_t growth_needed(const offset_allocator& offsets,
                                          offset_allocator::request wanted) const override;
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) override;
  void cancel(std::size_t offset) noexcept override;
  void add(const control_group& group, std::size_t offset, std::unique_ptr<shared_segment> segment) override;
  [[nodiscard]] bool contains(std::size_t offset) const override;
  void clear() noexcept override;

 private:
  team_segment_map& segments_;
  const std::size_t unit_;
  std::vector<std::size_t> offsets_;  ///< of this team's segments
};

/// Segments at the same offset of all members' slots, and the allocations in them. Allocation is deterministic:
/// members communicate only when a segment is needed. *Callers* one thread at a time.
class symmetric_allocator {
 public:
  /// `group`, `sharing` and `parameters` outlive it.
  symmetric_allocator(const control_group& group, segment_sharing& sharing, const heap_parameters& parameters,
                      std::unique_ptr<growth_policy> growth)
      : group_(group), sharing_(sharing), parameters_(parameters), growth_(std::move(growth)) {}
  symmetric_allocator(const symmetric_allocator&) = delete;
  symmetric_allocator& operator=(const symmetric_allocator&) = delete;

  /// Collective: same arguments on all members. Communicates only when a new segment is needed, or with checks on.
  /// *Units* bytes. *Memory* alignment: a power of two up to largest_alignment(); at least 16, and 512 from 512 bytes
  /// on, 2 MiB from 2 MiB on. *On return* the memory is not initialised. A request of 0 bytes gives null. *Errors*
  /// out_of_memory naming PE, requested, free and largest free; the memory is then as it was, on all members.
  /// asymmetric_call with checks on.
  /// @param zeros whether the caller will clear it with the other members; only compared
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool zeros = false);
  [[nodiscard]] std::size_t largest_alignment() const noexcept { return sharing_.slots().alignment(); }
  /// The error where this PE can't align to `alignment`.
  [[nodiscard]] std::optional<error> refuse_alignment(std::size_t alignment) const;
  /// Collective, with a barrier before the memory can be allocated again. Null is ignored.
  /// *Errors* invalid_free, before the barrier.
  void free(void* pointer);
  /// Unmaps all segments and forgets all allocations. Members wait for one another before.
  void clear() noexcept;

  [[nodiscard]] heap_usage usage() const;
  /// Bytes of the allocation that starts at `pointer`, rounding included; 0 if there is none.
  [[nodiscard]] std::size_t allocation_bytes(const void* pointer) const;
  /// Bytes of this PE's segments. *Callers* any thread.
  [[nodiscard]] std::size_t mapped() const noexcept { return mapped_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] std::byte* own_slot() const noexcept { return sharing_.own_slot(group_); }
  [[nodiscard]] error no_room(const collective_step& call) const;
  [[nodiscard]] error out_of_memory(const error& first, const collective_step& call) const;
  void grow(offset_allocator::request wanted, const collective_step& call);
  void add_segment(std::size_t bytes, const collective_step& call, const std::optional<error>& refused);

  const control_group& group_;
  segment_sharing& sharing_;
  const heap_parameters& parameters_;
  const std::unique_ptr<growth_policy> growth_;
  offset_allocator offsets_;
  std::atomic<std::size_t> mapped_{0};
};

}  // namespace pgas::detail
