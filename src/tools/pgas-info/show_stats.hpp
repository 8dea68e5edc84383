/// @file
/// The counts of running jobs, for pgas-info --stats. Asks the PEs of a job over the sockets that pgas-why uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pgas_info {

/// Tables of the jobs of this user, one for each job with a PE on this host. A table has a line for each PE of the job,
/// also for PEs of other hosts. Empty if no job answers. Takes at most 1.5 s for each job.
/// @param directory PGAS_SOCKET_DIR; empty: none
/// @param job the job's name, the beginning of the name, or the pid of one of the job's PEs on this host; empty: all
/// jobs
/// @param json returns all answers of the PEs, as a list of jobs
/// *Errors* those of stats_table(), if a PE has another version of the library.
[[nodiscard]] std::string stats_text(const std::string& directory, const std::string& job, bool json);

/// The table of one job, with a line for each PE, in the order of the PE numbers. The columns are: operations and
/// bytes, separately for direct PEs, for proxied PEs and for the proxy's commands; the number of calls that wait for
/// other PEs, and their time; the memory of the heap; and the time since a host thread was last in a call. Indented
/// lines below show problems: errors, warnings, and a call that has not ended. For PEs that join, leave or do not
/// answer, the line contains one word in place of the columns. Lines have at most 100 columns.
/// @param job the job's name
/// @param said the job's `pes`, and `answers` if a PE has answered: docs/metrics.md lists the fields.
/// *Errors* those of nlohmann::json, if a field is missing.
[[nodiscard]] std::string stats_table(const std::string& job, const nlohmann::ordered_json& said);

}  // namespace pgas_info
