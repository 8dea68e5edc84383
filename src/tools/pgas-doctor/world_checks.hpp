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

/// The rows for a world that could not be joined: the failure in the library's words, and the fix for its error code.
[[nodiscard]] row row_of_failure(const error& why);

/// Collective: joins, tests all operations between all PEs, and leaves. Returns the rows of the whole world on PE 0,
/// and no rows on other PEs. If joining fails, returns the rows on all PEs. `pairs` receives the routes. *Errors* none:
/// errors become rows.
[[nodiscard]] std::vector<row> check_world(const job& all, const config& settings, std::unique_ptr<bootstrap> exchange,
                                           const request& how, journal& out, std::vector<pair_route>& pairs);

// ---- its parts; collective

/// Shares a segment between all PEs that are expected to share memory, by each kind of handle. Then stores to the
/// segment, and updates a word of the segment atomically.
[[nodiscard]] row check_sharing(world& joined);
/// For each PE: puts, gets, updates a word atomically, and checks the data.
[[nodiscard]] row check_access(world& joined);
/// Whether PEs that share a GPU can run their kernels at the same time.
[[nodiscard]] row check_turns(const world& joined);
/// The route from each PE to every other PE, with the devices and the speed of the route.
[[nodiscard]] std::vector<pair_route> measure_routes(world& joined, const request& how);
/// The verdict on the routes.
[[nodiscard]] std::vector<row> judge_routes(const std::vector<pair_route>& pairs, const job& all,
                                            const config& settings, bool gpu);

}  // namespace pgas::doctor
