#include "host/heap/heap.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/topology/p2p_probe.hpp"
#include "host/heap/heap_parameters.hpp"

namespace pgas::detail {

struct heap::state {
  state(device& d, const link_group& everyone, const config& settings, log::logger& log, growth_callback on_growth,
        windows::change_callback on_windows, bool may_stay_apart)
      : my_pe(everyone.my_pe()),
        terms(agree_on_terms(everyone, d, settings)),
        found(probe_handle_kinds(
            d, everyone, {terms.unit, settings.handle, agree_on_direct(everyone, settings.direct), may_stay_apart},
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
  const heap_terms terms;
  const shared_reach found;
  const layout slots;
  memory_reach shared;
  const arena_ground ground;
  class windows some;
  arena all;
  class registrations registered;
};

heap::heap(device& device, const link_group& everyone, const config& settings, log::logger& log,
           growth_callback on_growth, windows::change_callback on_windows, bool may_stay_apart)
    : state_(std::make_unique<state>(device, everyone, settings, log, std::move(on_growth), std::move(on_windows),
                                     may_stay_apart)) {}
heap::~heap() = default;

const domains& heap::near() const noexcept { return state_->found.near; }
void heap::expose_through(proxy& far) noexcept { state_->shared.far = &far; }

arena& heap::memory() noexcept { return state_->all; }
std::unique_ptr<arena> heap::make_arena(const link_group& members) {
  return std::make_unique<arena>(members, state_->ground, state_->some);
}
class windows& heap::windows() noexcept {
  return state_->some;
}
class registrations& heap::registrations() noexcept {
  return state_->registered;
}

heap_usage heap::usage() const { return state_->all.usage(); }
std::size_t heap::allocation_bytes(const void* pointer) const { return state_->all.allocation_bytes(pointer); }

std::byte* heap::slot(int pe) const noexcept { return state_->shared.slot(pe); }
int heap::log2_stride() const noexcept { return state_->slots.log2_stride(); }
bool heap::same_base() const noexcept { return state_->slots.same_base(); }
handle_kind heap::kind() const noexcept { return state_->ground.kind; }
const arena_ground& heap::ground() const noexcept { return state_->ground; }
std::size_t heap::mapped_bytes() const noexcept { return state_->all.mapped(); }

bool heap::contains(const void* pointer, std::size_t bytes) const { return maps(state_->offset(pointer), bytes); }

bool heap::maps(std::size_t offset, std::size_t bytes) const {
  const std::size_t mapped = mapped_bytes();
  return (offset <= mapped && bytes <= mapped - offset) || state_->some.contains(offset, bytes);
}

bool heap::reaches(const void* pointer, int pe) const { return state_->some.reaches(state_->offset(pointer), pe); }

}  // namespace pgas::detail
