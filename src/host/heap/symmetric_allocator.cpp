#include "host/heap/symmetric_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "host/control/control_message.hpp"
#include "host/heap/collective_step.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

symmetric_allocator::symmetric_allocator(const control_group& everyone, const allocator_resources& ground,
                                         std::size_t limit, growth_callback on_growth)
    : group_(everyone), ground_(ground), limit_(limit), on_growth_(std::move(on_growth)) {}

symmetric_allocator::symmetric_allocator(const control_group& members, const allocator_resources& ground,
                                         team_segments& where)
    : group_(members), ground_(ground), limit_(ground.reach.slots.stride() - where.begin()), team_segments_(&where) {}

symmetric_allocator::~symmetric_allocator() {
  while (!segments_.empty()) segments_.pop_back();
}

std::string symmetric_allocator::numbers() const {
  const char* which = limit_ < ground_.terms.limit      ? "the addresses of a slot; PGAS_HEAP_STRIDE and ulimit -v change it"
                      : ground_.terms.limit_is_set != 0 ? "PGAS_HEAP_LIMIT"
                                                        : "the memory of the device; PGAS_HEAP_LIMIT changes it";
  if (team_segments_ != nullptr) which = "the addresses that a slot has for teams; PGAS_HEAP_STRIDE changes it";
  return fmt::format("{} of {} mapped are free (largest block {}), the limit is {} ({})",
                     format_bytes(offsets_.size() - offsets_.used()), format_bytes(offsets_.size()),
                     format_bytes(offsets_.largest_free()), format_bytes(limit_), which);
}

error symmetric_allocator::no_room(const collective_step& call) const {
  const int me = group_.my_pe();
  return error(code::out_of_memory,
               fmt::format("PE {} (host {}) has no room for {}", group_.world_pe(me), group_.peer(me).host,
                           format_bytes(call.bytes)),
               group_.world_pe(me));
}

void symmetric_allocator::grow(offset_allocator::request wanted, const collective_step& call) {
  const std::size_t unit = ground_.terms.unit;
  std::size_t needed = std::numeric_limits<std::size_t>::max();
  if (call.bytes <= offset_allocator::largest_request)
    needed = team_segments_ == nullptr
                 ? offsets_.growth_needed(wanted)
                 : wanted.bytes + std::max(wanted.alignment, unit) - unit;  // windows begin at any unit
  if (needed <= limit_) needed = round_up(needed, unit);
  const std::size_t room = limit_ - offsets_.size();
  std::optional<error> refused;
  if (needed > room) refused = no_room(call);
  // Half as much again each time keeps segments few; a device that has no room for that may have it for the request
  // itself. Teams are many, and most need little.
  const std::size_t first = team_segments_ == nullptr ? ground_.terms.segment : unit;
  const std::size_t generous = round_up(std::max<std::size_t>(first, offsets_.size() / 2), unit);
  const std::size_t bytes = refused ? unit : std::min(std::max(needed, generous), room);
  if (!try_growth(bytes, call, refused, refused || bytes == needed))
    static_cast<void>(try_growth(needed, call, refused, true));
}

bool symmetric_allocator::try_growth(std::size_t bytes, const collective_step& call,
                                     const std::optional<error>& refused, bool last) {
  std::optional<std::size_t> at = offsets_.size();
  if (team_segments_ != nullptr) at = team_segments_->reserve(group_, bytes);
  std::vector<std::unique_ptr<shared_segment>> segments;
  try {
    sharing_result result = share(at, bytes, call, refused);
    if (result.segment) {
      segments.push_back(std::move(result.segment));
    } else {
      const error& first = *result.failures.front().failure;
      if (first.code() != code::out_of_memory) throw error(first);
      if (last)
        throw error(code::out_of_memory,
                    fmt::format("{}: {} were requested, {}; nothing was allocated on any PE", text_of(first),
                                format_bytes(call.bytes), numbers()),
                    first.pe());
    }
  } catch (...) {
    if (team_segments_ != nullptr && at) team_segments_->remove(*at);
    throw;
  }
  if (segments.empty()) {
    if (team_segments_ != nullptr && at) team_segments_->remove(*at);
    return false;
  }
  offsets_.add(*at, bytes);
  if (team_segments_ == nullptr) {
    segments_.push_back(std::move(segments.front()));
  } else {
    team_segments_->add(*at, group_, std::move(segments));
    mine_.push_back(*at);
  }
  mapped_.store(offsets_.size(), std::memory_order_release);
  if (on_growth_) on_growth_(offsets_.size());
  ground_.reach.barrier_if_proxied(group_);
  return true;
}

sharing_result symmetric_allocator::share(std::optional<std::size_t> at, std::size_t bytes, const collective_step& call,
                                          const std::optional<error>& refused) {
  collective_step growing = call;
  growing.what = collective_step::kind::grow;
  sharing_plan plan{ground_.reach, at.value_or(0), bytes, ground_.kind, growing, refused};
  if (!at && !refused) plan.refusal = no_room(call);
  return share_segment(ground_.device, group_, plan);
}

void symmetric_allocator::clear() noexcept {
  for (const std::size_t offset : mine_) team_segments_->remove(offset);
  mine_.clear();
  offsets_ = {};
  mapped_ = 0;
}

heap_usage symmetric_allocator::usage() const {
  return {offsets_.used(), offsets_.size(), limit_, offsets_.largest_free(), offsets_.allocations()};
}

std::optional<error> symmetric_allocator::refuse_alignment(std::size_t alignment) const {
  if (std::has_single_bit(alignment) && alignment <= largest_alignment()) return std::nullopt;
  return error(code::invalid_argument,
               fmt::format("alignment {} is not a power of two up to {}, which the addresses of the "
                           "heap are multiples of; a larger PGAS_HEAP_STRIDE makes that larger",
                           alignment, largest_alignment()));
}

void* symmetric_allocator::allocate(std::size_t bytes, std::size_t alignment, bool zeros) {
  const std::optional<error> refused = refuse_alignment(alignment);
  const bool possible = !refused && bytes != 0 && bytes <= offset_allocator::largest_request;
  const offset_allocator::request wanted =
      possible ? offset_allocator::rounded(bytes, alignment) : offset_allocator::request{0, 1};
  collective_step call{collective_step::kind::allocate, zeros ? 1u : 0u, bytes, alignment, collective_step::nowhere};
  if (possible) call.offset = offsets_.find(wanted).value_or(collective_step::nowhere);
  if (ground_.terms.checks != 0) {
    step_result mine;
    mine.call = call;
    if (const std::optional<error> different = asymmetry(exchange(group_, mine))) throw error(*different);
  }
  if (refused) throw error(*refused);
  if (bytes == 0) return nullptr;
  if (call.offset == collective_step::nowhere) grow(wanted, call);
  const std::optional<std::size_t> offset = offsets_.allocate(wanted);
  if (!offset)
    throw error(code::out_of_memory, fmt::format("{} do not fit into a heap that grew for them", format_bytes(bytes)));
  return my_slot() + *offset;
}

void symmetric_allocator::free(void* pointer) {
  if (pointer == nullptr && ground_.terms.checks == 0) return;
  step_result mine;
  mine.call.what = collective_step::kind::free;
  if (pointer != nullptr) {
    mine.failure = attempt(group_, fmt::format("free {}", pointer), [&] {
      // Below the slot it is a huge one.
      const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(my_slot());
      if (team_segments_ == nullptr ? offset >= mapped() : !team_segments_->contains(offset, 1))
        throw error(code::invalid_free, "it is not an address of this PE's part of the heap");
      mine.call.offset = offset;
      const std::optional<std::size_t> start = offsets_.allocation_around(offset);
      if (!start) throw error(code::invalid_free, "nothing is allocated there: was it freed before?");
      if (*start != offset)
        throw error(code::invalid_free, fmt::format("it lies {} bytes inside an allocation", offset - *start));
    });
  }
  // The barrier before which no PE may hand the memory out again; that it also compares what is freed costs nothing.
  const std::vector<step_result> all = exchange(group_, mine);
  if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  if (const std::optional<error> different = asymmetry(all)) throw error(*different);
  if (pointer != nullptr) offsets_.free(static_cast<std::size_t>(mine.call.offset));
}

std::size_t symmetric_allocator::allocation_bytes(const void* pointer) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(my_slot());
  return offsets_.allocation_bytes(offset);
}

}  // namespace pgas::detail
