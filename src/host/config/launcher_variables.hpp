/// @file
/// The options of the bootstrap, from the configuration and from the variables that launchers set.
#pragma once

#include "host/config/read_environment.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::config_detail {

/// Options for make_bootstrap() from the configuration and from variables of launchers:
/// * pgasrun: PGAS_RANK, PGAS_SIZE, PGAS_LOCAL_FD
/// * mpirun, srun: PMIX_RANK, PMIX_NAMESPACE
/// * torchrun, or by hand: RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID,
///   TORCHELASTIC_USE_AGENT_STORE (true: another process listens at the port)
///
/// RANK and WORLD_SIZE are used only together with MASTER_ADDR or a unique id. If a variable is missing, the option has
/// its default, which means "not given". *Errors* code::config_value if a variable of pgasrun or torchrun is not a
/// number in its range.
[[nodiscard]] bootstrap_options make_bootstrap_options(const config& settings, const environment& variables);

/// The same options, from the environment of this process.
/// *Callers* any thread; the program must not change its environment during the call.
[[nodiscard]] bootstrap_options make_bootstrap_options(const config& settings);

}  // namespace pgas::config_detail
