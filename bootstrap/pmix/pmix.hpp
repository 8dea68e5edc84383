/// @file
/// The bootstrap over PMIx, which mpirun, prterun and `srun --mpi=pmix` speak.
#pragma once

#include <memory>
#include <string>

#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// Joins the job that the PMIx server has started; rank and size come from it. `version` receives the library's own
/// words. All processes of the job make the same worlds in the same order. *Errors* bootstrap_unavailable (no library,
/// no server, left out at build), bootstrap_timeout, bootstrap_protocol.
[[nodiscard]] std::unique_ptr<bootstrap> join_pmix(const bootstrap_options& options, std::string& version);

}  // namespace pgas::boot
