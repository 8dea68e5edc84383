/// @file
/// The parameters of the heap that the PEs of a world agree on before they build it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/address_layout.hpp"
#include "host/topology/find_domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The sizes that a PE has or requests. The PEs combine their sizes, so that all PEs have the same result.
struct heap_parameters {
  heap_kind kind = heap_kind::host;
  std::uint32_t checks = 0;
  std::uint64_t unit = 0;  ///< a divisor of segment sizes and offsets
  std::uint64_t limit = 0;
  std::uint64_t stride = 0;        ///< the distance between slots, a power of two; 0 in the exchange: not requested
  std::uint64_t least_stride = 0;  ///< the smallest stride to try if there are too few addresses for `stride`
  std::uint64_t segment = 0;       ///< the size of the first segment in bytes
  std::uint64_t limit_is_set = 0;
  std::uint64_t traced = 0;  ///< whether any PE records a trace; if so, all PEs compare their clocks
  std::uint64_t teams = 0;   ///< the memory of teams in bytes, if all memory is allocated at the start; else 0
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The properties and requests of one PE, or of a set of PEs after merge().
struct joining_record {
  heap_parameters all;            ///< `kind` is the kind of the first PE
  sharing_offer offer;            ///< the offer of the first PE
  std::int32_t first = 0;         ///< the lowest PE of the set
  std::int32_t other = -1;        ///< the first PE with another kind of memory; -1: none
  std::int32_t other_offers = 0;  ///< whether the offer of any PE differs from `offer`
  std::int32_t reserved = 0;
};

/// The record of PE `me`. PEs may exchange their records together with other values.
[[nodiscard]] joining_record record_of(int me, const device& device, const config& settings, bool allow_proxied);
/// Merges the records of two sets of PEs.
[[nodiscard]] joining_record merge(joining_record a, joining_record b);
/// The parameters that every PE supports, without the strides, from the record of all PEs. *Errors* mixed_heaps, the
/// same on all PEs.
[[nodiscard]] heap_parameters parameters_of(const joining_record& all);

/// The first allocation of a world of `n` PEs, at the start of every slot: its internal_area, two oneshot_stagings, and
/// room for the states of the teams of most programs.
struct first_allocation {
  explicit first_allocation(int n);
  std::size_t states;  ///< the offset of the teams' states
  std::size_t bytes;
};

/// The parameters with the strides for `slots` slots. The lower half of each slot is for the memory of all PEs, and the
/// upper half is for team segments.
[[nodiscard]] heap_parameters with_strides(heap_parameters parameters, int slots, const first_allocation& first);

/// The parameters of a heap whose memory is all allocated at the start, because the device chooses addresses. The limit
/// is the requested size, or a size with which several PEs fit on a GPU.
[[nodiscard]] heap_parameters with_blocks(heap_parameters parameters);

}  // namespace pgas::detail
