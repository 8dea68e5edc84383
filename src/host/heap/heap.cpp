#include "host/heap/heap.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/exchange/agreement.hpp"

namespace pgas::detail {

heap::heap(device& device, const control_group& everyone, const config& settings, log::logger& log,
           growth_callback on_growth, team_segment_map::change_callback on_team_segments, bool allow_proxied,
           const std::optional<joining_record>& records)
    : heap(found(device, everyone, settings, log, allow_proxied,
                 records ? *records
                         : reduce_value(everyone, record_of(everyone.my_pe(), device, settings, allow_proxied), merge)),
           device, everyone, std::move(on_growth), std::move(on_team_segments)) {}

heap::heap(foundation result, device& device, const control_group& everyone, growth_callback on_growth,
           team_segment_map::change_callback on_team_segments)
    : my_pe_(everyone.my_pe()),
      parameters_(result.parameters),
      probed_(std::move(result.probed)),
      slots_(std::move(result.slots)),
      exchange_(device, *slots_, probed_.domains, probed_.kind),
      team_segments_(slots_->team_begin(), slots_->slot_bytes(), parameters_.unit, std::move(on_team_segments)),
      memory_(everyone, exchange_, parameters_, team_segments_,
              std::make_unique<contiguous_growth>(parameters_, slots_->team_begin(), std::move(on_growth))),
      distances_(static_cast<std::size_t>(everyone.n_pes())) {
  for (const int pe : domains().members())
    distances_[static_cast<std::size_t>(pe)] = slots_->distance(domains().index(my_pe_), domains().index(pe));
  if (result.first) memory_.adopt(std::move(result.first));
}

heap::foundation heap::found(device& device, const control_group& everyone, const config& settings, log::logger& log,
                             bool allow_proxied, const joining_record& all) {
  const first_allocation first(everyone.n_pes());
  const sharing_offer mine = offer_of(device, settings, allow_proxied);
  const bool same_offers = all.other_offers == 0;
  heap_parameters parameters;
  std::optional<probe_result> expected;
  try {
    parameters = parameters_of(all);
    if (same_offers) expected = expected_domains(device, everyone, settings, mine);
  } catch (const error&) {
    everyone.barrier();  // all PEs find the same error; without the barrier, the first PE that leaves would look lost
    throw;
  }
  const auto probe = [&] { return find_domains(device, everyone, settings, parameters.unit, mine, same_offers, log); };
  probe_result probed = expected ? *expected : probe();
  if (device.spans(probed.kind)) {
    const heap_parameters with = with_strides(parameters, probed.domains.largest(), first);
    const auto open_first = [&](const address_layout& slots) -> std::unique_ptr<group_segment> {
      if (!probed.domains.only_one()) return nullptr;  // proxied PEs get the keys of segments later
      auto segment = std::make_unique<group_segment>(
          device, round_up(std::max<std::uint64_t>(parameters.segment, first.bytes), parameters.unit));
      const int me = probed.domains.index(everyone.my_pe());
      segment->open_own(slots.slot(me));
      for (int slot = 0; slots.guards_peers() && slot < static_cast<int>(probed.domains.members().size()); ++slot)
        if (slot != me) segment->open_peer(slots.slot(slot));
      return segment;
    };
    auto [slots, segment] = address_layout::with_span(device, everyone, probed.domains, probed.kind, with.stride,
                                                      with.unit, open_first, log);
    if (slots) {
      if (expected) report_kind(everyone, probed.kind, log);
      return {with, std::move(probed), std::move(slots), std::move(segment)};
    }
    if (expected) probed = probe();
  }
  if (device.places(probed.kind)) {
    const heap_parameters with = with_blocks(parameters);
    auto slots =
        std::make_unique<address_layout>(device, everyone, probed.domains, probed.kind, with.limit, with.teams);
    return {with, std::move(probed), std::move(slots), nullptr};
  }
  const int n = probed.domains.largest();
  const heap_parameters with = with_strides(parameters, n, first);
  auto slots = std::make_unique<address_layout>(device, everyone, n, with.stride, with.least_stride, with.unit);
  return {with, std::move(probed), std::move(slots), nullptr};
}

std::unique_ptr<symmetric_allocator> heap::make_allocator(const control_group& members) {
  return std::make_unique<symmetric_allocator>(members, exchange_, parameters_, team_segments_,
                                               std::make_unique<team_growth>(parameters_, team_segments_));
}

bool heap::contains_offset(std::size_t offset, std::size_t bytes) const {
  const std::size_t mapped = mapped_bytes();
  return (offset <= mapped && bytes <= mapped - offset) || team_segments_.contains(offset, bytes);
}

}  // namespace pgas::detail
