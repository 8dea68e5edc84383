/// @file
/// How this process was started, and whether it joins those that were started with it.
#pragma once

#include <string>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The number that the launcher gave this process, without asking it; -1 where none did.
[[nodiscard]] int rank_by_launcher();

/// Whether a world of `size` PEs, found in the way that `how` describes, is what the launcher started.
[[nodiscard]] row check_launcher(int size, const std::string& how);

/// The PMIx library that mpirun and srun need.
[[nodiscard]] row check_pmix(const std::string& how);

/// The row of a launcher that could not be joined through.
[[nodiscard]] row row_of_launcher_failure(const error& why);

}  // namespace pgas::doctor
