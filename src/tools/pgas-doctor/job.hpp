/// @file
/// The PEs of a job: the facts that each one gathers about itself, and the rows that compare them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/control/peer_descriptor.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// One PE's facts: strings, numbers and lists by name; those of all PEs are compared.
using facts = nlohmann::json;

/// The libpgas.so that a program beside the doctor would load.
struct loaded_library {
  std::string path;     ///< empty where there is none
  std::string version;  ///< "0.1.0"; empty where it does not say
  std::string build;    ///< the same for the same file
  std::string failure;  ///< why there is none
};
[[nodiscard]] loaded_library find_library();
/// Whether the library that was found is the one that this doctor was built with.
[[nodiscard]] row check_library(const loaded_library& found);

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

/// What differs between PEs that should be the same: settings, libraries, users, namespaces, GPUs; CPUs for so many.
[[nodiscard]] std::vector<row> compare(const job& all, const config& settings);

/// UCX as this job would use it: it is there, starts, and has the devices. @param needed the job has proxied PEs
[[nodiscard]] row check_ucx(const job& all, const config& settings);
/// Shared memory by name, which UCX uses between PEs of a host.
[[nodiscard]] row check_shared_memory(const job& all);

/// Collective: connects over TCP to every PE of another host, as joining does. *Errors* those of the bootstrap.
[[nodiscard]] std::vector<row> check_ports(const job& all, const config& settings, bootstrap& exchange,
                                           const request& how);

}  // namespace pgas::doctor
