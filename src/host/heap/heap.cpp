#include "host/heap/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include "host/heap/byte_text.hpp"
#include "host/heap/gather_value.hpp"
#include "host/heap/handle_probe.hpp"
#include "host/heap/layout.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/heap/statement.hpp"
#include "host/world/packet.hpp"

namespace pgas::detail {

namespace {

/// What a PE has and wants; all PEs work with the same combination of these.
struct heap_terms {
  heap_kind kind = heap_kind::host;
  std::uint32_t checks = 0;
  std::uint64_t unit = 0;  ///< every segment is a multiple
  std::uint64_t limit = 0;
  std::uint64_t stride = 0;  ///< 0: none was asked for
  std::uint64_t segment = 0;
  std::uint64_t limit_is_set = 0;
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

heap_terms terms_of(const device& device, const config& settings) {
  heap_terms mine;
  mine.kind = device.properties().kind;
  mine.checks = settings.checks ? 1 : 0;
  mine.unit = std::max<std::uint64_t>(device.granularity(), offset_allocator::large_alignment);
  mine.limit = settings.heap_limit != 0 ? settings.heap_limit : device.properties().memory_bytes;
  mine.limit = std::min<std::uint64_t>(mine.limit, layout_wish::most_addresses);
  mine.limit_is_set = settings.heap_limit != 0 ? 1 : 0;
  mine.stride = std::min<std::uint64_t>(settings.stride, layout_wish::most_addresses);
  mine.segment = settings.segment_bytes;
  return mine;
}

const char* text_of(heap_kind kind) { return kind == heap_kind::cuda ? "GPU" : "host"; }

/// The terms that every PE can meet.
heap_terms agree_on_terms(links& links, const heap_terms& mine) {
  const std::vector<heap_terms> all = gather_value(links, mine);
  heap_terms agreed = all[0];
  for (std::size_t pe = 1; pe < all.size(); ++pe) {
    if (all[pe].kind != agreed.kind)
      throw error(
          code::mixed_heaps,
          fmt::format(
              "PE 0 has its heap in {} memory and PE {} in {} memory: set PGAS_HEAP to the same value on all PEs",
              text_of(agreed.kind), pe, text_of(all[pe].kind)),
          static_cast<int>(pe));
    agreed.checks |= all[pe].checks;
    agreed.limit_is_set |= all[pe].limit_is_set;
    agreed.unit = std::max(agreed.unit, all[pe].unit);
    agreed.limit = std::min(agreed.limit, all[pe].limit);
    agreed.stride = std::max(agreed.stride, all[pe].stride);
    agreed.segment = std::max(agreed.segment, all[pe].segment);
  }
  agreed.limit = std::max(agreed.limit / agreed.unit * agreed.unit, agreed.unit);
  agreed.segment = round_up(std::clamp<std::uint64_t>(agreed.segment, 1, agreed.limit), agreed.unit);
  return agreed;
}

layout_wish wish_for(const heap_terms& terms, int slots) {
  layout_wish wish;
  wish.slots = slots;
  wish.alignment = terms.unit;
  wish.stride = std::bit_ceil(std::max(terms.stride != 0 ? terms.stride : terms.limit, terms.unit));
  // What was asked for is not taken back; what the device happens to have may be more than there are addresses.
  const bool asked = terms.stride != 0 || terms.limit_is_set != 0;
  const std::size_t room = std::bit_floor(layout_wish::most_addresses / static_cast<std::size_t>(slots));
  wish.least = std::min(asked ? wish.stride : std::bit_ceil(terms.segment), room);
  return wish;
}

}  // namespace

struct heap::state {
  state(class device& d, class links& l, const config& settings, log::logger& log, growth_callback callback)
      : device(d),
        links(l),
        on_growth(std::move(callback)),
        terms(agree_on_terms(l, terms_of(d, settings))),
        slots(d, l, wish_for(terms, l.n_pes())),
        limit(std::min<std::size_t>(terms.limit, slots.stride())),
        kind(probe_handle_kinds(d, l, slots, terms.unit, settings.handle, log)) {}
  ~state() {
    while (!segments.empty()) segments.pop_back();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  [[nodiscard]] std::optional<error> refusal(const heap_call& call, std::size_t needed) const;
  [[nodiscard]] std::string numbers() const;
  void grow(offset_allocator::request wanted, const heap_call& call);
  [[nodiscard]] bool try_growth(std::size_t bytes, const heap_call& call, const std::optional<error>& refused,
                                bool last);

  class device& device;
  class links& links;
  const growth_callback on_growth;
  const heap_terms terms;
  const layout slots;
  const std::size_t limit;
  const handle_kind kind;
  offset_allocator offsets;
  std::atomic<std::size_t> mapped{0};  ///< offsets.size(), for threads that only check addresses
  std::vector<std::unique_ptr<shared_segment>> segments;
};

std::string heap::state::numbers() const {
  return fmt::format("{} of {} mapped are free (largest block {}), the limit is {} ({})",
                     byte_text(offsets.size() - offsets.used()), byte_text(offsets.size()),
                     byte_text(offsets.largest_free()), byte_text(limit),
                     limit < terms.limit       ? "the addresses of a slot; PGAS_STRIDE changes it"
                     : terms.limit_is_set != 0 ? "PGAS_HEAP_LIMIT"
                                               : "the memory of the device; PGAS_HEAP_LIMIT changes it");
}

std::optional<error> heap::state::refusal(const heap_call& call, std::size_t needed) const {
  if (needed <= limit - offsets.size()) return std::nullopt;
  const int me = links.my_pe();
  return error(code::out_of_memory,
               fmt::format("PE {} (host {}) has no room for {}", me, links.peer(me).host, byte_text(call.bytes)), me);
}

void heap::state::grow(offset_allocator::request wanted, const heap_call& call) {
  std::size_t needed = std::numeric_limits<std::size_t>::max();
  if (call.bytes <= offset_allocator::largest_request) needed = offsets.growth_needed(wanted);
  if (needed <= limit) needed = round_up(needed, terms.unit);
  const std::optional<error> refused = refusal(call, needed);
  const std::size_t room = limit - offsets.size();
  // Half as much again each time keeps segments few; a device that has no room for that may have it for the request
  // itself.
  const std::size_t generous = round_up(std::max<std::size_t>(terms.segment, offsets.size() / 2), terms.unit);
  const std::size_t bytes = refused ? terms.unit : std::min(std::max(needed, generous), room);
  if (!try_growth(bytes, call, refused, refused || bytes == needed))
    static_cast<void>(try_growth(needed, call, refused, true));
}

bool heap::state::try_growth(std::size_t bytes, const heap_call& call, const std::optional<error>& refused, bool last) {
  heap_call growing = call;
  growing.what = heap_call::kind::grow;
  segments.reserve(segments.size() + 1);
  sharing_result result = share_segment(device, links, {slots, offsets.size(), bytes, kind, growing, refused});
  if (!result.segment) {
    const error& first = *result.failures.front().failure;
    if (first.code() == code::out_of_memory && !last) return false;
    if (first.code() != code::out_of_memory) throw error(first);
    throw error(code::out_of_memory,
                fmt::format("{}: {} were requested, {}; nothing was allocated on any PE", detail::text_of(first),
                            byte_text(call.bytes), numbers()),
                first.pe());
  }
  offsets.grow(bytes);
  segments.push_back(std::move(result.segment));
  mapped.store(offsets.size(), std::memory_order_release);
  if (on_growth) on_growth(offsets.size());
  return true;
}

heap::heap(class device& device, class links& links, const config& settings, log::logger& log,
           growth_callback on_growth)
    : state_(std::make_unique<state>(device, links, settings, log, std::move(on_growth))) {}
heap::~heap() = default;

void* heap::allocate(std::size_t bytes, std::size_t alignment) {
  state& s = *state_;
  const bool valid = std::has_single_bit(alignment) && alignment <= offset_allocator::large_alignment;
  const bool possible = valid && bytes != 0 && bytes <= offset_allocator::largest_request;
  const offset_allocator::request wanted =
      possible ? offset_allocator::rounded(bytes, alignment) : offset_allocator::request{0, 1};
  heap_call call{heap_call::kind::allocate, 0, bytes, alignment, heap_call::nowhere};
  if (possible) call.offset = s.offsets.find(wanted).value_or(heap_call::nowhere);
  if (s.terms.checks != 0) {
    statement mine;
    mine.call = call;
    if (const std::optional<error> different = asymmetry(exchange(s.links, mine))) throw error(*different);
  }
  if (!valid)
    throw error(code::invalid_argument, fmt::format("allocate: alignment {} is not a power of two up to {}", alignment,
                                                    offset_allocator::large_alignment));
  if (bytes == 0) return nullptr;
  if (call.offset == heap_call::nowhere) s.grow(wanted, call);
  const std::optional<std::size_t> offset = s.offsets.allocate(wanted);
  if (!offset)
    throw error(code::out_of_memory, fmt::format("{} do not fit into a heap that grew for them", byte_text(bytes)));
  return slot(s.links.my_pe()) + *offset;
}

void heap::free(void* pointer) {
  state& s = *state_;
  const int me = s.links.my_pe();
  if (pointer == nullptr && s.terms.checks == 0) return;
  statement mine;
  mine.call.what = heap_call::kind::free;
  if (pointer != nullptr) {
    mine.failure = attempt(s.links, fmt::format("free {}", pointer), [&] {
      if (!contains(pointer, 1)) throw error(code::invalid_free, "it is not an address of this PE's part of the heap");
      const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(pointer) - slot(me));
      mine.call.offset = offset;
      const std::optional<std::size_t> start = s.offsets.allocation_around(offset);
      if (!start) throw error(code::invalid_free, "nothing is allocated there: was it freed before?");
      if (*start != offset)
        throw error(code::invalid_free, fmt::format("it lies {} bytes inside an allocation", offset - *start));
    });
  }
  // The barrier before which no PE may hand the memory out again; that it also compares what is freed costs nothing.
  const std::vector<statement> all = exchange(s.links, mine);
  if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  if (const std::optional<error> different = asymmetry(all)) throw error(*different);
  if (pointer != nullptr) s.offsets.free(static_cast<std::size_t>(mine.call.offset));
}

std::size_t heap::allocation_bytes(const void* pointer) const {
  if (!contains(pointer, 1)) return 0;
  return state_->offsets.allocation_bytes(
      static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - slot(state_->links.my_pe())));
}

std::byte* heap::slot(int pe) const noexcept { return state_->slots.slot(pe); }
int heap::log2_stride() const noexcept { return state_->slots.log2_stride(); }
bool heap::same_base() const noexcept { return state_->slots.same_base(); }
handle_kind heap::kind() const noexcept { return state_->kind; }

heap_usage heap::usage() const {
  const offset_allocator& offsets = state_->offsets;
  return {offsets.used(), offsets.size(), state_->limit, offsets.largest_free(), offsets.allocations()};
}

std::size_t heap::mapped_bytes() const noexcept { return state_->mapped.load(std::memory_order_acquire); }

bool heap::contains(const void* pointer, std::size_t bytes) const noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(slot(state_->links.my_pe()));
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  const std::size_t mapped = mapped_bytes();
  return at >= start && at - start <= mapped && bytes <= mapped - (at - start);
}

}  // namespace pgas::detail
