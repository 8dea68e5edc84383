#include "host/heap/growth_policy.hpp"

#include <algorithm>
#include <utility>

namespace pgas::detail {

namespace {

const char* heap_limit_source(const heap_parameters& parameters, std::size_t slot_bytes) {
  if (parameters.teams != 0)
    return parameters.limit_is_set != 0
               ? "PGAS_HEAP_LIMIT"
               : "the heap that PEs create when they join and share memory by cuda_ipc; PGAS_HEAP_LIMIT changes it";
  if (slot_bytes < parameters.limit) return "the address range of a slot; PGAS_HEAP_STRIDE and ulimit -v change it";
  if (parameters.limit_is_set != 0) return "PGAS_HEAP_LIMIT";
  return "the memory of the device; PGAS_HEAP_LIMIT changes it";
}

}  // namespace

std::size_t growth_policy::segment_bytes(std::size_t needed, std::size_t mapped, std::size_t unit) const {
  const std::size_t generous = round_up(std::max(first_, mapped / 2), unit);
  return std::min(std::max(needed, generous), limit_ - mapped);
}

contiguous_growth::contiguous_growth(const heap_parameters& parameters, std::size_t slot_bytes,
                                     growth_callback on_growth)
    : growth_policy(std::min<std::size_t>(parameters.limit, slot_bytes), heap_limit_source(parameters, slot_bytes),
                    parameters.segment),
      on_growth_(std::move(on_growth)) {}

std::size_t contiguous_growth::growth_needed(const offset_allocator& offsets, offset_allocator::request wanted) const {
  return offsets.growth_needed(wanted);
}

std::optional<std::size_t> contiguous_growth::reserve(const control_group&, std::size_t) { return end_; }

void contiguous_growth::cancel(std::size_t) noexcept {}

void contiguous_growth::add(const control_group&, std::size_t, std::unique_ptr<group_segment> segment) {
  end_ += segment->bytes();
  segments_.push_back(std::move(segment));
  if (on_growth_) on_growth_(end_);
}

void contiguous_growth::clear() noexcept {
  while (!segments_.empty()) segments_.pop_back();
  end_ = 0;
}

team_growth::team_growth(const heap_parameters& parameters, team_segment_map& segments)
    : growth_policy(segments.end() - segments.begin(),
                    parameters.teams != 0
                        ? "the memory for teams, a quarter of the heap's: PGAS_HEAP_LIMIT changes both"
                        : "the address range of a slot for teams; PGAS_HEAP_STRIDE changes it",
                    parameters.unit),
      segments_(segments),
      unit_(parameters.unit) {}

std::size_t team_growth::growth_needed(const offset_allocator&, offset_allocator::request wanted) const {
  return wanted.bytes + std::max(wanted.alignment, unit_) - unit_;  // a team segment can begin at any multiple of unit_
}

std::optional<std::size_t> team_growth::reserve(const control_group& group, std::size_t bytes) {
  return segments_.reserve(group, bytes);
}

void team_growth::cancel(std::size_t offset) noexcept { segments_.remove(offset); }

void team_growth::add(const control_group& group, std::size_t offset, std::unique_ptr<group_segment> segment) {
  std::vector<std::unique_ptr<group_segment>> segments;
  segments.push_back(std::move(segment));
  offsets_.push_back(offset);
  segments_.add(offset, group, std::move(segments));
}

bool team_growth::contains(std::size_t offset) const { return segments_.contains(offset, 1); }

void team_growth::clear() noexcept {
  for (const std::size_t offset : offsets_) segments_.remove(offset);
  offsets_.clear();
}

}  // namespace pgas::detail
