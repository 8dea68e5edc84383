#include "host/heap/heap_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "host/control/gather_value.hpp"
#include "host/heap/offset_allocator.hpp"
#include "pgas/detail/layout.hpp"

namespace pgas::detail {

namespace {

heap_parameters terms_of(const device& device, const config& settings) {
  heap_parameters mine;
  mine.kind = device.properties().kind;
  mine.checks = settings.checks ? 1 : 0;
  mine.unit = std::max<std::uint64_t>(device.granularity(), offset_allocator::large_alignment);
  mine.limit = settings.heap_limit != 0 ? settings.heap_limit : device.properties().memory_bytes;
  mine.limit = std::min<std::uint64_t>(mine.limit, layout_request::most_addresses);
  mine.limit_is_set = settings.heap_limit != 0 ? 1 : 0;
  mine.stride = std::min<std::uint64_t>(settings.heap_stride, layout_request::most_addresses);
  mine.segment = settings.segment_size;
  return mine;
}

const char* text_of(heap_kind kind) { return kind == heap_kind::cuda ? "GPU" : "host"; }

}  // namespace

heap_parameters agree_on_terms(const control_group& everyone, const device& device, const config& settings) {
  const std::vector<heap_parameters> all = gather_value(everyone, terms_of(device, settings));
  heap_parameters agreed = all[0];
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

first_allocation::first_allocation(int n)
    : states(internal_area::bytes(n) + 2 * oneshot_staging::bytes),
      bytes(states + std::min(64 * team_layout::bytes(n, default_channels, true), std::uint64_t{6} << 20)) {}

layout_request wish_for(const heap_parameters& terms, int slots, const first_allocation& first) {
  layout_request wish;
  wish.slots = slots;
  wish.alignment = terms.unit;
  const auto twice = [](std::uint64_t bytes) { return 2 * std::bit_ceil(bytes); };
  wish.stride = twice(std::max(terms.stride != 0 ? terms.stride : terms.limit, terms.unit));
  // What was asked for is not taken back; what the device happens to have may be more than there are addresses.
  const bool asked = terms.stride != 0 || terms.limit_is_set != 0;
  const std::size_t room = std::bit_floor(layout_request::most_addresses / static_cast<std::size_t>(slots));
  wish.least = std::min(asked ? wish.stride : twice(std::max<std::uint64_t>(terms.segment, first.bytes)), room);
  return wish;
}

}  // namespace pgas::detail
