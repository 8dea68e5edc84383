/// @file
/// Options of the bootstrap, from the configuration and from the variables that launchers set.
#pragma once

#include "host/config/environment.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::config_detail {

/// Options for make_bootstrap() from the configuration and from the variables of pgasrun, mpirun, srun or torchrun. A
/// missing variable leaves its option "not given".
/// *Errors* code::config_value where a variable of pgasrun or torchrun is no number in its range.
[[nodiscard]] bootstrap_options launch_options(const config& settings, const environment& variables);

/// The same for the environment of this process.
[[nodiscard]] bootstrap_options launch_options(const config& settings);

}  // namespace pgas::config_detail
