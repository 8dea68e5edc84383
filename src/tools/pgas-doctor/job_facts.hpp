/// @file
/// The PEs of a job, and the facts that each one gathers about itself.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/control/peer_descriptor.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "tools/pgas-doctor/library.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// One PE's facts: strings, numbers and lists by name; those of all PEs are compared.
using facts = nlohmann::json;

/// This process, after its settings were read. @param gpus the UUIDs of those that it sees
[[nodiscard]] facts collect_facts(const config& settings, const loaded_library& library,
                                  const std::vector<std::string>& gpus);

/// The job as this PE knows it. Equal on all PEs, but for `me`.
struct job {
  int me = 0;
  std::vector<facts> pes;
  std::vector<int> host_of;               ///< by PE
  std::vector<std::vector<bool>> direct;  ///< by two PEs: they are expected to share memory
  [[nodiscard]] int n() const { return static_cast<int>(pes.size()); }
  [[nodiscard]] int hosts() const;
  /// PEs of this one's host.
  [[nodiscard]] int local() const;
  /// Some PE of this host is expected to be reached by the proxy, through the network or the host's memory.
  [[nodiscard]] bool proxied() const;
  /// CPUs that the PEs of a host may use between them; 0 where none of them knows.
  [[nodiscard]] int cpus_of(int host) const;
  /// Some host has fewer CPUs than PEs, so that times say little.
  [[nodiscard]] bool crowded() const;
  /// Every PE is on this host, and all see the same shared memory and processes: UCX may use it.
  [[nodiscard]] bool shares_by_name() const;
};

/// Collective: the facts of all PEs. *Errors* those of the bootstrap; bootstrap_protocol for facts of no doctor.
[[nodiscard]] job gather_job(bootstrap& exchange, const facts& mine, const config& settings);
/// Collective: each PE's rows, by PE.
[[nodiscard]] std::vector<std::vector<row>> gather_rows(bootstrap& exchange, const std::vector<row>& mine);

}  // namespace pgas::doctor
