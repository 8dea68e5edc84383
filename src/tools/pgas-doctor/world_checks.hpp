/// @file
/// The checks that need a world: whether PEs access one another's memory, by which route, and how fast.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/world.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/job_facts.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The rows of a world that could not be joined: what failed, in the words of the library, and the fix of its code.
[[nodiscard]] row row_of_failure(const error& why);

/// Collective: joins, tries everything between all PEs, leaves. The rows of the whole world on PE 0, none elsewhere;
/// all of them where joining fails. `pairs` receives the routes. *Errors* none: they become rows.
[[nodiscard]] std::vector<row> check_world(const job& all, const config& settings, std::unique_ptr<bootstrap> exchange,
                                           const request& how, journal& out, std::vector<pair_route>& pairs);

// ---- its parts; collective

/// Shares a segment between all PEs that are expected to, by each kind of handle, stores to it and updates it.
[[nodiscard]] row check_sharing(world& joined);
/// Puts to every PE, gets from it, and updates a word of it; looks at the data.
[[nodiscard]] row check_access(world& joined);
/// PEs that share a GPU and whose kernels can't run at the same time.
[[nodiscard]] row check_turns(const world& joined);
/// From each PE to each other one: how, through which devices, how fast.
[[nodiscard]] std::vector<pair_route> measure_routes(world& joined, const request& how);
/// The verdict on the routes.
[[nodiscard]] std::vector<row> judge_routes(const std::vector<pair_route>& pairs, const job& all,
                                            const config& settings, bool gpu);

}  // namespace pgas::doctor
