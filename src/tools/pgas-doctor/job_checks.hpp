/// @file
/// Checks of a whole job. The checks compare the PEs' facts, and try UCX, /dev/shm, and TCP between the hosts.
#pragma once

#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/job_facts.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// Rows about differences between PEs in settings, libraries, users, namespaces and GPUs, and about the number of CPUs
/// for the PEs.
[[nodiscard]] std::vector<row> compare(const job& all, const config& settings);

/// Whether UCX is present, starts, and has the devices that this job uses.
[[nodiscard]] row check_ucx(const job& all, const config& settings);
/// Whether /dev/shm has enough free space. UCX shares memory between PEs of a host by files in /dev/shm.
[[nodiscard]] row check_shared_memory(const job& all);

/// Collective: connects over TCP to every PE of another host, as joining does. *Errors* those of the bootstrap.
[[nodiscard]] std::vector<row> check_tcp_between_hosts(const job& all, const config& settings, bootstrap& exchange,
                                                       const request& how);

}  // namespace pgas::doctor
