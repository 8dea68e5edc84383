#include "host/heap/heap.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/heap/heap_parameters.hpp"
#include "host/topology/p2p_probe.hpp"

namespace pgas::detail {

struct heap::state {
  state(device& d, const control_group& everyone, const config& settings, log::logger& log, growth_callback on_growth,
        team_segments::change_callback on_windows, bool allow_proxied)
      : my_pe(everyone.my_pe()),
        terms(agree_on_terms(everyone, d, settings)),
        found(probe_handle_kinds(
            d, everyone, {terms.unit, settings.mem_handle, agree_on_direct(everyone, settings.p2p), allow_proxied},
            log)),
        slots(d, everyone, wish_for(terms, found.near.largest(), first_allocation(everyone.n_pes()))),
        shared{slots, found.near},
        ground{d, shared, terms, found.kind},
        some(slots.stride() / 2, slots.stride(), terms.unit, std::move(on_windows)),
        all(everyone, ground, std::min<std::size_t>(terms.limit, slots.stride() / 2), std::move(on_growth)),
        registered(everyone, ground, some) {}

  [[nodiscard]] std::uintptr_t offset(const void* pointer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(shared.slot(my_pe));
  }

  const int my_pe;
  const heap_parameters terms;
  const probe_result found;
  const address_layout slots;
  segment_access shared;
  const allocator_resources ground;
  class team_segments some;
  symmetric_allocator all;
  class user_buffers registered;
};

heap::heap(device& device, const control_group& everyone, const config& settings, log::logger& log,
           growth_callback on_growth, team_segments::change_callback on_windows, bool allow_proxied)
    : state_(std::make_unique<state>(device, everyone, settings, log, std::move(on_growth), std::move(on_windows),
                                     allow_proxied)) {}
heap::~heap() = default;

const domains& heap::near() const noexcept { return state_->found.near; }
void heap::attach_proxy(proxy& far) noexcept { state_->shared.far = &far; }

symmetric_allocator& heap::memory() noexcept { return state_->all; }
std::unique_ptr<symmetric_allocator> heap::make_arena(const control_group& members) {
  return std::make_unique<symmetric_allocator>(members, state_->ground, state_->some);
}
class team_segments& heap::team_segments() noexcept {
  return state_->some;
}
class user_buffers& heap::user_buffers() noexcept {
  return state_->registered;
}

heap_usage heap::usage() const { return state_->all.usage(); }
std::size_t heap::allocation_bytes(const void* pointer) const { return state_->all.allocation_bytes(pointer); }

std::byte* heap::slot(int pe) const noexcept { return state_->shared.slot(pe); }
int heap::log2_stride() const noexcept { return state_->slots.log2_stride(); }
bool heap::same_base() const noexcept { return state_->slots.same_base(); }
handle_kind heap::kind() const noexcept { return state_->ground.kind; }
const allocator_resources& heap::ground() const noexcept { return state_->ground; }
std::size_t heap::mapped_bytes() const noexcept { return state_->all.mapped(); }

bool heap::contains(const void* pointer, std::size_t bytes) const { return maps(state_->offset(pointer), bytes); }

bool heap::maps(std::size_t offset, std::size_t bytes) const {
  const std::size_t mapped = mapped_bytes();
  return (offset <= mapped && bytes <= mapped - offset) || state_->some.contains(offset, bytes);
}

bool heap::reaches(const void* pointer, int pe) const { return state_->some.reaches(state_->offset(pointer), pe); }

}  // namespace pgas::detail
