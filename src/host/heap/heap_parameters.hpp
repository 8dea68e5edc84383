/// @file
/// What the PEs of a world agree on before they build a heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// What a PE has and wants; all PEs work with the same combination of these.
struct heap_parameters {
  heap_kind kind = heap_kind::host;
  std::uint32_t checks = 0;
  std::uint64_t unit = 0;  ///< every segment is a multiple
  std::uint64_t limit = 0;
  std::uint64_t stride = 0;  ///< 0: none was asked for
  std::uint64_t segment = 0;
  std::uint64_t limit_is_set = 0;
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Collective: the terms that every PE can meet. *Errors* mixed_heaps, the same on all PEs.
[[nodiscard]] heap_parameters agree_on_terms(const control_group& everyone, const device& device,
                                             const config& settings);

/// What a world of `n` PEs allocates first, at the start of every slot: its internal_area, two push_rooms, and behind
/// these room for the states of most programs' teams.
struct first_allocation {
  explicit first_allocation(int n);
  std::size_t states;  ///< where those of teams begin
  std::size_t bytes;
};

/// Slots with a lower half for the heap that all PEs have in common, and an upper one for windows.
[[nodiscard]] layout_request wish_for(const heap_parameters& terms, int slots, const first_allocation& first);

}  // namespace pgas::detail
