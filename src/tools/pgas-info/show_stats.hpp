/// @file
/// The counts of running jobs, for pgas-info --stats: it asks their PEs over the sockets that pgas-why uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pgas_info {

/// A table for each job of this user that has a PE on this host, with a line for each PE, on other hosts too. Empty
/// where no job answers. Takes at most 1.5 s for each job.
/// @param directory PGAS_SOCKET_DIR, empty for none @param job its name, the beginning of it, or the pid of one of its
/// PEs here; empty: all @param json all that the PEs say, as a list of jobs
/// *Errors* those of stats_table(), where a PE has another version of the library.
[[nodiscard]] std::string stats_text(const std::string& directory, const std::string& job, bool json);

/// The table of one job: a line for each PE, in order, with operations and bytes on direct PEs, on proxied PEs and of
/// the proxy's commands, calls that wait for other PEs and the time in them, the memory of the heap, and for how long
/// no host thread was in a call. Below them, indented, stands what is not as it should be: errors, warnings, a call
/// that has not ended. PEs that join, leave or do not answer have one word instead. Lines have at most 100 columns.
/// @param job its name @param said its `pes`, and `answers` where a PE has answered: docs/metrics.md has the fields.
/// *Errors* those of nlohmann::json, where a field is missing.
[[nodiscard]] std::string stats_table(const std::string& job, const nlohmann::json& said);

}  // namespace pgas_info
