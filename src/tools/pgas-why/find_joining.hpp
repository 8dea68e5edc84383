/// @file
/// Finds the PEs of this user that are joining on this host and wait for missing PEs.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pgas_why {

/// A PE that is joining.
struct joining_pe {
  pid_t pid = 0;
  int pe = -1;  ///< -1: not known yet
  int n = -1;   ///< -1: not known yet
  long ms = 0;  ///< the time since joining began
};

/// PEs that one launcher has probably started for one world: they have the same parent, and report the same number of
/// PEs.
struct joining_job {
  int n = -1;
  std::vector<joining_pe> pes;  ///< the PEs, in the order of their numbers
};

/// The information in the name of a socket. Empty if the socket belongs to another program.
[[nodiscard]] std::optional<joining_pe> parse_joining(const std::string& name, long now_ms);

/// Jobs whose PEs have been joining for a longer time than joining takes if no PE is missing.
/// @param directory PGAS_SOCKET_DIR; empty if it is not set
/// @param wanted the pid of one of the PEs, or empty for all jobs
[[nodiscard]] std::vector<joining_job> find_joining(const std::string& directory, const std::string& wanted);

/// A sentence with the PEs that wait, and the PEs that are missing on this host.
[[nodiscard]] std::string say(const joining_job& job);
/// The sentence of say(), and a line for each PE.
[[nodiscard]] std::string report(const joining_job& job);
/// The report as JSON for programs.
[[nodiscard]] nlohmann::ordered_json describe(const joining_job& job);

}  // namespace pgas_why
