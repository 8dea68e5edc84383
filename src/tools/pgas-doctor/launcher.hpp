/// @file
/// Checks of the launcher of this process: whether this process can join the processes that the launcher has started
/// together with this process.
#pragma once

#include <string>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The rank that the launcher gave this process, read without a call to the launcher. -1 if the launcher gave no
/// number.
[[nodiscard]] int rank_by_launcher();

/// Compares a world of `size` PEs, which was found in the way that `how` describes, with the job that the launcher
/// started.
[[nodiscard]] row check_launcher(int size, const std::string& how);

/// The PMIx library that mpirun and srun need.
[[nodiscard]] row check_pmix(const std::string& how);

/// The row for a launcher through which this process could not join.
[[nodiscard]] row row_of_launcher_failure(const error& why);

}  // namespace pgas::doctor
