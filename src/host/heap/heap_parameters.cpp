#include "host/heap/heap_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "host/heap/offset_allocator.hpp"
#include "pgas/detail/team_state_layout.hpp"

namespace pgas::detail {

namespace {

heap_parameters own_parameters(const device& device, const config& settings) {
  heap_parameters mine;
  mine.kind = device.properties().kind;
  mine.checks = settings.checks ? 1 : 0;
  mine.unit = std::max<std::uint64_t>(device.granularity(), offset_allocator::large_alignment);
  mine.limit = settings.heap_limit != 0 ? settings.heap_limit : device.properties().memory_bytes;
  mine.limit = std::min<std::uint64_t>(mine.limit, address_layout::most_addresses);
  mine.limit_is_set = settings.heap_limit != 0 ? 1 : 0;
  mine.stride = std::min<std::uint64_t>(settings.heap_stride, address_layout::most_addresses);
  mine.segment = settings.segment_size;
  mine.traced = settings.trace.empty() ? 0 : 1;
  return mine;
}

const char* text_of(heap_kind kind) { return kind == heap_kind::cuda ? "GPU" : "host"; }

}  // namespace

joining_record record_of(int me, const device& device, const config& settings, bool allow_proxied) {
  joining_record mine;
  mine.all = own_parameters(device, settings);
  mine.offer = offer_of(device, settings, allow_proxied);
  mine.first = me;
  return mine;
}

joining_record merge(joining_record a, joining_record b) {
  if (b.first < a.first) std::swap(a, b);
  const std::int32_t other = b.all.kind != a.all.kind ? b.first : b.other;
  if (other >= 0 && (a.other < 0 || other < a.other)) a.other = other;
  if (b.other_offers != 0 || !(b.offer == a.offer)) a.other_offers = 1;
  a.all.checks |= b.all.checks;
  a.all.limit_is_set |= b.all.limit_is_set;
  a.all.traced |= b.all.traced;
  a.all.unit = std::max(a.all.unit, b.all.unit);
  a.all.limit = std::min(a.all.limit, b.all.limit);
  a.all.stride = std::max(a.all.stride, b.all.stride);
  a.all.segment = std::max(a.all.segment, b.all.segment);
  return a;
}

heap_parameters parameters_of(const joining_record& found) {
  heap_parameters agreed = found.all;
  if (found.other >= 0)  // the PEs have two kinds of memory
    throw error(code::mixed_heaps,
                fmt::format("PE 0 has its heap in {} memory and PE {} in {} memory: set PGAS_HEAP to the same value on "
                            "all PEs",
                            text_of(agreed.kind), found.other,
                            text_of(agreed.kind == heap_kind::host ? heap_kind::cuda : heap_kind::host)),
                found.other);
  agreed.limit = std::max(agreed.limit / agreed.unit * agreed.unit, agreed.unit);
  agreed.segment = round_up(std::clamp<std::uint64_t>(agreed.segment, 1, agreed.limit), agreed.unit);
  return agreed;
}

first_allocation::first_allocation(int n)
    : states(internal_area::bytes(n) + 2 * oneshot_staging::bytes()),
      bytes(states + std::min(64 * team_state_layout::bytes(n, default_channels, true), std::uint64_t{4} << 20)) {}

heap_parameters with_strides(heap_parameters parameters, int slots, const first_allocation& first) {
  const auto twice = [](std::uint64_t bytes) { return 2 * std::bit_ceil(bytes); };
  // A requested size is used unchanged. Without a request, the stride can be halved, because the memory of the device
  // can be larger than the address range.
  const bool asked = parameters.stride != 0 || parameters.limit_is_set != 0;
  const std::uint64_t half = parameters.stride != 0 ? parameters.stride : parameters.limit;
  const std::uint64_t room = std::bit_floor(address_layout::most_addresses / static_cast<std::size_t>(slots));
  parameters.stride = twice(std::max(half, parameters.unit));
  parameters.least_stride =
      std::min(asked ? parameters.stride : twice(std::max<std::uint64_t>(parameters.segment, first.bytes)), room);
  return parameters;
}

heap_parameters with_blocks(heap_parameters parameters) {
  constexpr std::uint64_t usual = std::uint64_t{1} << 30;
  constexpr std::uint64_t least_for_teams = std::uint64_t{32} << 20;
  if (parameters.limit_is_set == 0)
    parameters.limit = std::min(parameters.limit, round_up(std::max(parameters.segment, usual), parameters.unit));
  parameters.segment = parameters.limit;
  parameters.teams = round_up(std::max(parameters.limit / 4, least_for_teams), parameters.unit);
  return parameters;
}

}  // namespace pgas::detail
