// Growth by new segments: a symmetric_allocator that lacks room adds one here, where its policy says.
#include "host/heap/heap_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "host/control/control_message.hpp"
#include "host/heap/symmetric_allocator.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

namespace {

const char* heap_limit_source(const heap_parameters& parameters, std::size_t slot_bytes) {
  if (parameters.teams != 0)
    return parameters.limit_is_set != 0
               ? "PGAS_HEAP_LIMIT"
               : "all that PEs which share memory by cuda_ipc make when they join; PGAS_HEAP_LIMIT changes it";
  if (slot_bytes < parameters.limit) return "the addresses of a slot; PGAS_HEAP_STRIDE and ulimit -v change it";
  if (parameters.limit_is_set != 0) return "PGAS_HEAP_LIMIT";
  return "the memory of the device; PGAS_HEAP_LIMIT changes it";
}

}  // namespace

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
                        ? "the memory for teams, a quarter of that of the heap: PGAS_HEAP_LIMIT changes both"
                        : "the addresses that a slot has for teams; PGAS_HEAP_STRIDE changes it",
                    parameters.unit),
      segments_(segments),
      unit_(parameters.unit) {}

std::size_t team_growth::growth_needed(const offset_allocator&, offset_allocator::request wanted) const {
  return wanted.bytes + std::max(wanted.alignment, unit_) - unit_;  // team segments begin at any unit
}

std::optional<std::size_t> team_growth::reserve(const control_group& group, std::size_t bytes) {
  return segments_.reserve(group, bytes);
}

void team_growth::cancel(std::size_t offset) noexcept { segments_.remove(offset); }

void team_growth::add(const control_group& group, std::size_t offset, std::unique_ptr<group_segment> segment) {
  std::vector<std::unique_ptr<group_segment>> one;
  one.push_back(std::move(segment));
  offsets_.push_back(offset);
  segments_.add(offset, group, std::move(one));
}

bool team_growth::contains(std::size_t offset) const { return segments_.contains(offset, 1); }

void team_growth::clear() noexcept {
  for (const std::size_t offset : offsets_) segments_.remove(offset);
  offsets_.clear();
}

error symmetric_allocator::no_room(const collective_step& call) const {
  const int me = group_.my_pe();
  return error(code::out_of_memory,
               fmt::format("PE {} (host {}) has no room for {}", group_.world_pe(me), group_.peer(me).host,
                           format_bytes(call.bytes)),
               group_.world_pe(me));
}

error symmetric_allocator::out_of_memory(const error& first, const collective_step& call) const {
  return error(code::out_of_memory,
               fmt::format("{}: {} were requested, {} of {} mapped are free (largest block {}), the limit is {} ({}); "
                           "nothing was allocated on any PE",
                           text_of(first), format_bytes(call.bytes), format_bytes(offsets_.size() - offsets_.used()),
                           format_bytes(offsets_.size()), format_bytes(offsets_.largest_free()),
                           format_bytes(growth_->limit()), growth_->limit_source()),
               first.pe());
}

void symmetric_allocator::grow(offset_allocator::request wanted, const collective_step& call) {
  if (!buffers_.empty()) static_cast<void>(buffers_.collect());  // released buffers may free enough
  const std::size_t unit = parameters_.unit;
  std::size_t needed = std::numeric_limits<std::size_t>::max();
  if (call.bytes <= offset_allocator::largest_request) needed = growth_->growth_needed(offsets_, wanted);
  if (needed <= growth_->limit()) needed = round_up(needed, unit);
  const std::size_t room = growth_->limit() - offsets_.size();
  std::optional<error> refused;
  if (needed > room) refused = no_room(call);
  // Growth by half of the current size keeps the number of segments small. If the device lacks that much memory, the
  // request alone may still fit.
  const std::size_t generous = round_up(std::max<std::size_t>(growth_->first(), offsets_.size() / 2), unit);
  std::size_t bytes = refused ? unit : std::min(std::max(needed, generous), room);
  for (bool last = refused || bytes == needed;; last = true, bytes = needed) {
    try {
      return add_segment(bytes, call, refused);
    } catch (const error& failed) {
      if (failed.code() != code::out_of_memory) throw;
      if (last) throw out_of_memory(failed, call);
    }
  }
}

void symmetric_allocator::add_segment(std::size_t bytes, const collective_step& call,
                                      const std::optional<error>& refused) {
  const std::optional<std::size_t> offset = growth_->reserve(group_, bytes);
  step_result mine;
  mine.call = call;
  mine.call.what = collective_step::kind::grow;
  mine.failure = offset || refused ? refused : no_room(call);
  try {
    growth_->add(group_, offset.value_or(0), exchange_.create(group_, offset.value_or(0), bytes, std::move(mine)));
  } catch (...) {
    if (offset) growth_->cancel(*offset);
    throw;
  }
  offsets_.add(*offset, bytes);
  mapped_.store(offsets_.size(), std::memory_order_release);
  exchange_.barrier_if_proxied(group_);
}

}  // namespace pgas::detail
