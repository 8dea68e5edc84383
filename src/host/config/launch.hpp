/// @file
/// What the launcher said about this process: to the bootstrap, and to MPS.
#pragma once

#include "host/config/environment.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::config_detail {

/// Options for make_bootstrap() from the configuration and from what pgasrun, mpirun, srun or torchrun left in the
/// environment. What is not there stays "not given".
/// *Errors* code::config_value where a variable of pgasrun or torchrun is no number in its range.
[[nodiscard]] bootstrap_options launch_options(const config& settings, const environment& variables);

/// The same for the environment of this process.
[[nodiscard]] PGAS_API bootstrap_options launch_options(const config& settings);

}  // namespace pgas::config_detail
