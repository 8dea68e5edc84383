#include "host/heap/symmetric_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "host/control/control_message.hpp"
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

void contiguous_growth::add(const control_group&, std::size_t, std::unique_ptr<shared_segment> segment) {
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

void team_growth::add(const control_group& group, std::size_t offset, std::unique_ptr<shared_segment> segment) {
  std::vector<std::unique_ptr<shared_segment>> one;
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
  const std::size_t unit = parameters_.unit;
  std::size_t needed = std::numeric_limits<std::size_t>::max();
  if (call.bytes <= offset_allocator::largest_request) needed = growth_->growth_needed(offsets_, wanted);
  if (needed <= growth_->limit()) needed = round_up(needed, unit);
  const std::size_t room = growth_->limit() - offsets_.size();
  std::optional<error> refused;
  if (needed > room) refused = no_room(call);
  // Half as much again each time keeps segments few. A device without memory for that may have it for the request.
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
    growth_->add(group_, offset.value_or(0), sharing_.share(group_, offset.value_or(0), bytes, std::move(mine)));
  } catch (...) {
    if (offset) growth_->cancel(*offset);
    throw;
  }
  offsets_.add(*offset, bytes);
  mapped_.store(offsets_.size(), std::memory_order_release);
  sharing_.barrier_if_proxied(group_);
}

void symmetric_allocator::clear() noexcept {
  growth_->clear();
  offsets_ = {};
  mapped_ = 0;
}

heap_usage symmetric_allocator::usage() const {
  return {offsets_.used(), offsets_.size(), growth_->limit(), offsets_.largest_free(), offsets_.allocations()};
}

std::optional<error> symmetric_allocator::refuse_alignment(std::size_t alignment) const {
  if (std::has_single_bit(alignment) && alignment <= largest_alignment()) return std::nullopt;
  return error(code::invalid_argument,
               fmt::format("alignment {} is not a power of two up to {}, which the addresses of the "
                           "heap are multiples of; a larger {} makes that larger",
                           alignment, largest_alignment(),
                           parameters_.teams != 0 ? "PGAS_HEAP_LIMIT, up to 1G," : "PGAS_HEAP_STRIDE"));
}

void* symmetric_allocator::allocate(std::size_t bytes, std::size_t alignment, bool zeros) {
  const std::optional<error> refused = refuse_alignment(alignment);
  const bool possible = !refused && bytes != 0 && bytes <= offset_allocator::largest_request;
  const offset_allocator::request wanted =
      possible ? offset_allocator::rounded(bytes, alignment) : offset_allocator::request{0, 1};
  collective_step call{collective_step::kind::allocate, zeros ? 1u : 0u, bytes, alignment, collective_step::nowhere};
  if (possible) call.offset = offsets_.find(wanted).value_or(collective_step::nowhere);
  if (parameters_.checks != 0) {
    step_result mine;
    mine.call = call;
    if (const std::optional<error> different = find_mismatch(exchange(group_, mine))) throw error(*different);
  }
  if (refused) throw error(*refused);
  if (bytes == 0) return nullptr;
  if (call.offset == collective_step::nowhere) grow(wanted, call);
  const std::optional<std::size_t> offset = offsets_.allocate(wanted);
  if (!offset)
    throw error(code::out_of_memory, fmt::format("{} do not fit into a heap that grew for them", format_bytes(bytes)));
  return own_slot() + *offset;
}

void symmetric_allocator::free(void* pointer) {
  if (pointer == nullptr && parameters_.checks == 0) return;
  step_result mine;
  mine.call.what = collective_step::kind::free;
  if (pointer != nullptr) {
    mine.failure = attempt(group_, fmt::format("free {}", pointer), [&] {
      // An address below the slot gives a huge offset.
      const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(own_slot());
      if (!growth_->contains(offset))
        throw error(code::invalid_free, "it is not an address of this PE's part of the heap");
      mine.call.offset = offset;
      const std::optional<std::size_t> start = offsets_.allocation_around(offset);
      if (!start) throw error(code::invalid_free, "nothing is allocated there: was it freed before?");
      if (*start != offset)
        throw error(code::invalid_free, fmt::format("it lies {} bytes inside an allocation", offset - *start));
    });
  }
  // The barrier before which no PE may allocate the memory again; comparing the calls costs nothing more.
  check_step(exchange(group_, mine));
  if (pointer != nullptr) offsets_.free(static_cast<std::size_t>(mine.call.offset));
}

std::size_t symmetric_allocator::allocation_bytes(const void* pointer) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(own_slot());
  return offsets_.allocation_bytes(offset);
}

}  // namespace pgas::detail
