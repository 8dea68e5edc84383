#include "host/heap/symmetric_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "host/connect/control_message.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

void symmetric_allocator::clear() noexcept {
  buffers_.clear();
  growth_->clear();
  offsets_ = {};
  list_.clear();
  mapped_ = 0;
}

heap_usage symmetric_allocator::usage() const {
  return {offsets_.used(), offsets_.size(), growth_->limit(), offsets_.largest_free(), offsets_.allocations()};
}

std::optional<error> symmetric_allocator::refuse_alignment(std::size_t alignment) const {
  if (std::has_single_bit(alignment) && alignment <= largest_alignment()) return std::nullopt;
  return error(
      code::invalid_argument,
      fmt::format("alignment {} is not a power of two up to {}, the alignment of the heap; a larger {} raises it",
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
    if (const std::optional<error> different = buffers_.agree(mine).mismatch) throw error(*different);
  }
  if (refused) throw error(*refused);
  if (bytes == 0) return nullptr;
  if (call.offset == collective_step::nowhere) grow(wanted, call);
  const std::optional<std::size_t> offset = offsets_.allocate(wanted);
  if (!offset)
    throw error(code::out_of_memory, fmt::format("{} do not fit into a heap that grew for them", format_bytes(bytes)));
  list_.add(*offset, bytes);
  return own_slot() + *offset;
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
  if (!buffers_.empty()) static_cast<void>(buffers_.collect());  // unmapping released buffers can free enough memory
  const std::size_t unit = parameters_.unit;
  std::size_t needed = std::numeric_limits<std::size_t>::max();
  if (call.bytes <= offset_allocator::largest_request) needed = growth_->growth_needed(offsets_, wanted);
  if (needed <= growth_->limit()) needed = round_up(needed, unit);
  const std::size_t room = growth_->limit() - offsets_.size();
  std::optional<error> refused;
  if (needed > room) refused = no_room(call);
  std::size_t bytes = refused ? unit : growth_->segment_bytes(needed, offsets_.size(), unit);
  // If the device has too little memory for a segment of this size, a segment for the request alone can still fit.
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
    // All members compare their calls before they export handles, because a member that is in another call, such as
    // free(), does not exchange handles.
    const step_agreement all = agree_on_step(group_, mine.call, mine.failure);
    if (all.mismatch) throw error(*all.mismatch);
    if (all.failure) throw error(*all.failure);
    growth_->add(group_, offset.value_or(0), exchange_.create(group_, offset.value_or(0), bytes, std::move(mine)));
  } catch (...) {
    if (offset) growth_->cancel(*offset);
    throw;
  }
  offsets_.add(*offset, bytes);
  mapped_.store(offsets_.size(), std::memory_order_release);
  exchange_.barrier_if_proxied(group_);
}

void symmetric_allocator::adopt(std::unique_ptr<group_segment> first) {
  const std::size_t bytes = first->bytes();
  growth_->add(group_, 0, std::move(first));
  offsets_.add(0, bytes);
  mapped_.store(offsets_.size(), std::memory_order_release);
}

void symmetric_allocator::free(void* pointer) {
  if (pointer == nullptr && parameters_.checks == 0) return;
  step_result mine;
  mine.call.what = collective_step::kind::free;
  if (pointer != nullptr) {
    mine.failure = attempt(group_, fmt::format("free {}", pointer), [&] {
      // For an address below the slot, the subtraction wraps to a very large offset.
      const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(own_slot());
      if (!growth_->contains(offset))
        throw error(code::invalid_free, "it is not an address of this PE's part of the heap");
      mine.call.offset = offset;
      const std::optional<std::size_t> start = offsets_.allocation_around(offset);
      if (!start) throw error(code::invalid_free, "nothing is allocated there: was it already freed?");
      if (*start != offset)
        throw error(code::invalid_free, fmt::format("it lies {} bytes inside an allocation", offset - *start));
    });
  }
  // The exchange is also a barrier. No PE may allocate the memory again before this barrier. The exchange also compares
  // the calls, so the comparison needs no further message.
  check_step(buffers_.agree(mine));
  if (pointer == nullptr) return;
  list_.remove(static_cast<std::size_t>(mine.call.offset));
  offsets_.free(static_cast<std::size_t>(mine.call.offset));
}

std::size_t symmetric_allocator::allocation_bytes(const void* pointer) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(own_slot());
  return offsets_.allocation_bytes(offset);
}

}  // namespace pgas::detail
