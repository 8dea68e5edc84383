/// @file
/// The PEs of a job, and the facts that each PE gathers about itself.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/connect/peer_descriptor.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "tools/pgas-doctor/library.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// One PE's facts: strings, numbers and lists by name. The facts of all PEs are compared.
using facts = nlohmann::json;

/// The facts of this process, after its settings were read. @param gpus the UUIDs of the GPUs that the process sees
[[nodiscard]] facts collect_facts(const config& settings, const loaded_library& library,
                                  const std::vector<std::string>& gpus);

/// A PE's information about the job. All fields except `me` are the same on all PEs.
struct job {
  int me = 0;
  std::vector<facts> pes;
  std::vector<int> host_of;               ///< the number of the host, indexed by PE
  std::vector<std::vector<bool>> direct;  ///< whether two PEs are expected to share memory, indexed by both PEs
  [[nodiscard]] int n() const { return static_cast<int>(pes.size()); }
  [[nodiscard]] int hosts() const;
  /// The number of PEs on this PE's host.
  [[nodiscard]] int local() const;
  /// Whether a PE of this host is expected to be proxied, over the network or through the host's memory.
  [[nodiscard]] bool proxied() const;
  /// The number of CPUs that the PEs of a host may use together. 0 if no PE knows the number.
  [[nodiscard]] int cpus_of(int host) const;
  /// Whether a host has fewer CPUs than PEs. Measured times are not meaningful in that case.
  [[nodiscard]] bool crowded() const;
  /// Whether all PEs are on this host and see the same shared memory and processes, so that UCX may use shared memory.
  [[nodiscard]] bool shares_by_name() const;
};

/// Collective: gathers the facts of all PEs. *Errors* those of the bootstrap; bootstrap_protocol for bytes that were
/// not sent by pgas-doctor.
[[nodiscard]] job gather_job(bootstrap& exchange, const facts& mine, const config& settings);
/// Collective: gathers each PE's rows, indexed by PE.
[[nodiscard]] std::vector<std::vector<row>> gather_rows(bootstrap& exchange, const std::vector<row>& mine);

}  // namespace pgas::doctor
