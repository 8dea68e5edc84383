#include "host/heap/heap.hpp"

#include <memory>
#include <utility>

namespace pgas::detail {

heap::heap(device& device, const control_group& everyone, const config& settings, log::logger& log,
           growth_callback on_growth, team_segment_map::change_callback on_team_segments, bool allow_proxied)
    : my_pe_(everyone.my_pe()),
      parameters_(agree_on_parameters(everyone, device, settings)),
      probed_(find_domains(device, everyone, settings, parameters_.unit, allow_proxied, log)),
      slots_([&] {
        if (device.places(probed_.kind)) {
          parameters_ = with_blocks(parameters_);
          return address_layout(device, everyone, probed_.domains, probed_.kind, parameters_.limit, parameters_.teams);
        }
        const int slots = probed_.domains.largest();
        parameters_ = with_strides(parameters_, slots, first_allocation(everyone.n_pes()));
        return address_layout(device, everyone, slots, parameters_.stride, parameters_.least_stride, parameters_.unit);
      }()),
      exchange_(device, slots_, probed_.domains, probed_.kind),
      team_segments_(slots_.team_begin(), slots_.slot_bytes(), parameters_.unit, std::move(on_team_segments)),
      memory_(everyone, exchange_, parameters_, team_segments_,
              std::make_unique<contiguous_growth>(parameters_, slots_.team_begin(), std::move(on_growth))),
      distances_(static_cast<std::size_t>(everyone.n_pes())) {
  for (const int pe : domains().members())
    distances_[static_cast<std::size_t>(pe)] = slots_.distance(domains().index(my_pe_), domains().index(pe));
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
