/// @file
/// The growth of a heap by new segments. A policy chooses the offsets of segments and limits their total size. The
/// memory of all PEs and the memory of a team have different policies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/exchange/control_group.hpp"
#include "host/heap/group_segment.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/heap/team_segment_map.hpp"

namespace pgas::detail {

/// Chooses offsets and sizes of the segments of a symmetric_allocator, and owns them. *Callers* the allocator.
class growth_policy {
 public:
  /// @param limit the largest size of all segments together
  /// @param limit_source the setting that defines the limit, for messages
  /// @param first the size of the first segment
  growth_policy(std::size_t limit, std::string limit_source, std::size_t first)
      : limit_(limit), limit_source_(std::move(limit_source)), first_(first) {}
  virtual ~growth_policy() = default;
  growth_policy(const growth_policy&) = delete;
  growth_policy& operator=(const growth_policy&) = delete;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] const std::string& limit_source() const noexcept { return limit_source_; }
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  /// The size of the next segment: the largest of `needed`, first() and half of `mapped`, but within limit(). The
  /// sizes grow, so that the number of segments stays small. @param mapped the size of all segments now @param unit the
  /// result is a multiple of `unit`
  [[nodiscard]] std::size_t segment_bytes(std::size_t needed, std::size_t mapped, std::size_t unit) const;
  /// The number of bytes that must be added to `offsets` for the request to fit.
  [[nodiscard]] virtual std::size_t growth_needed(const offset_allocator& offsets,
                                                  offset_allocator::request wanted) const = 0;
  /// Reserves the offset of a new segment, the same on all members. Empty if the range of addresses is full. Collective
  /// over `group`.
  [[nodiscard]] virtual std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) = 0;
  /// Releases an offset that reserve() returned, if no segment was created at the offset.
  virtual void cancel(std::size_t offset) noexcept = 0;
  /// Takes ownership of the segment at the reserved offset.
  virtual void add(const control_group& group, std::size_t offset, std::unique_ptr<group_segment> segment) = 0;
  /// Whether a segment contains `offset`.
  [[nodiscard]] virtual bool contains(std::size_t offset) const = 0;
  /// Unmaps all segments. The caller synchronises the members before this call.
  virtual void clear() noexcept = 0;

 private:
  const std::size_t limit_;
  const std::string limit_source_;
  const std::size_t first_;
};

/// The growth of the memory of all PEs. Segments follow one another from the start of the slots.
class contiguous_growth final : public growth_policy {
 public:
  /// Called after each change of the mapped size, with the new number of mapped bytes.
  using growth_callback = std::function<void(std::size_t mapped_bytes)>;

  contiguous_growth(const heap_parameters& parameters, std::size_t slot_bytes, growth_callback on_growth);
  ~contiguous_growth() override { contiguous_growth::clear(); }

  [[nodiscard]] std::size_t growth_needed(const offset_allocator& offsets,
                                          offset_allocator::request wanted) const override;
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) override;
  void cancel(std::size_t offset) noexcept override;
  void add(const control_group& group, std::size_t offset, std::unique_ptr<group_segment> segment) override;
  [[nodiscard]] bool contains(std::size_t offset) const override { return offset < end_; }
  void clear() noexcept override;

 private:
  const growth_callback on_growth_;
  std::size_t end_ = 0;
  std::vector<std::unique_ptr<group_segment>> segments_;  ///< the segments in the order of their creation
};

/// The growth of a team's memory. Segments can have any offset in the range of team segments.
class team_growth final : public growth_policy {
 public:
  team_growth(const heap_parameters& parameters, team_segment_map& segments);

  [[nodiscard]] std::size_t growth_needed(const offset_allocator& offsets,
                                          offset_allocator::request wanted) const override;
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) override;
  void cancel(std::size_t offset) noexcept override;
  void add(const control_group& group, std::size_t offset, std::unique_ptr<group_segment> segment) override;
  [[nodiscard]] bool contains(std::size_t offset) const override;
  void clear() noexcept override;

 private:
  team_segment_map& segments_;
  const std::size_t unit_;
  std::vector<std::size_t> offsets_;  ///< the offsets of this team's segments
};

}  // namespace pgas::detail
