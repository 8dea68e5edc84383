/// @file
/// Finds the PEs of this user that join on this host, and wait for others that have not come.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pgas_why {

/// One that joins.
struct joining_pe {
  pid_t pid = 0;
  int pe = -1;  ///< -1: not known yet
  int n = -1;   ///< likewise
  long ms = 0;  ///< since it began
};

/// PEs that one launcher has apparently started for one world: they have one parent, and report the same
/// number of PEs.
struct joining_job {
  int n = -1;
  std::vector<joining_pe> pes;  ///< in order
};

/// The information in the name of a socket; none if the socket belongs to another program.
[[nodiscard]] std::optional<joining_pe> parse_joining(const std::string& name, long now_ms);

/// Jobs with PEs that have been joining for longer than joining takes if no PE is missing.
/// @param directory PGAS_SOCKET_DIR, empty for none @param wanted the pid of one of the PEs, or empty: all jobs
[[nodiscard]] std::vector<joining_job> find_joining(const std::string& directory, const std::string& wanted);

/// The PEs that wait, and those that are missing on this host.
[[nodiscard]] std::string say(const joining_job& of);
/// say(), and a line for each PE.
[[nodiscard]] std::string report(const joining_job& of);
/// The same for programs.
[[nodiscard]] nlohmann::json describe(const joining_job& of);

}  // namespace pgas_why
