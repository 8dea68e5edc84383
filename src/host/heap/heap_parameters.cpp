#include "host/heap/heap_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "host/control/control_group.hpp"
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

heap_parameters agree_on_parameters(const control_group& everyone, const device& device, const config& settings) {
  const std::vector<heap_parameters> all = gather_value(everyone, own_parameters(device, settings));
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
    agreed.traced |= all[pe].traced;
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
    : states(internal_area::bytes(n) + 2 * oneshot_staging::bytes()),
      bytes(states + std::min(64 * team_state_layout::bytes(n, default_channels, true), std::uint64_t{4} << 20)) {}

heap_parameters with_strides(heap_parameters parameters, int slots, const first_allocation& first) {
  const auto twice = [](std::uint64_t bytes) { return 2 * std::bit_ceil(bytes); };
  // A requested size is used unchanged. The memory of the device may exceed the available addresses.
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
