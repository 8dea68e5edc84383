/// @file
/// The team_hierarchy of teams that span domains, for teams that tests make. The team_hierarchy has the format of the
/// host library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "body_tools.hpp"

namespace pgas_test {

/// Writes the plans of a team of these PEs, whose state lies at `state`. A domain is `pes.domain()` neighbours.
template <class Pes>
void write_plans(Pes& pes, const std::vector<std::int32_t>& members, std::uint64_t state, std::int32_t channels) {
  const int n_pes = pes.n_pes();
  const int domain = pes.domain();
  if (domain >= n_pes && !pes.scattered()) return;
  const auto n = static_cast<std::int32_t>(members.size());
  std::vector<std::int32_t> domain_of;
  std::vector<std::int32_t> slot_of;
  for (int pe = 0; pe < n_pes; ++pe) {
    domain_of.push_back(pe / domain);
    slot_of.push_back(pes.distance(0, pe));
  }
  std::vector<std::int32_t> plan(static_cast<std::size_t>(detail::team_hierarchy::size(n)));
  for (int pe = 0; pe < n_pes; ++pe) {
    std::fill(plan.begin(), plan.end(), 0);
    detail::team_hierarchy::write(plan.data(), members.data(), n, pe, domain_of.data(), slot_of.data());
    pes.write(pe, sym<std::int32_t>{state + detail::team_state_layout::plan(n, channels)}, plan.data(), plan.size());
  }
}

/// Writes the plans of the team of all PEs.
template <class Pes>
void write_plans_of_world(Pes& pes) {
  std::vector<std::int32_t> all;
  for (int pe = 0; pe < pes.n_pes(); ++pe) all.push_back(pe);
  write_plans(pes, all, detail::internal_area::world_state, detail::default_channels);
}

}  // namespace pgas_test
