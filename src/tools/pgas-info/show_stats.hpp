/// @file
/// What the PEs of running jobs have counted, asked of them as pgas-why asks what they wait for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pgas_info {

/// A table for each job of this user that has a PE on this host, with a line for each PE, on other hosts too. Empty
/// where no job answers. Takes at most 1.5 s for each job.
/// @param directory PGAS_SOCKET_DIR, empty for none @param job its name, the beginning of it, or the pid of one of its
/// PEs here; empty: all @param json all that the PEs say, as a list of jobs
[[nodiscard]] std::string stats_text(const std::string& directory, const std::string& job, bool json);

/// The table of one job. @param said its `pes` and `answers`: docs/metrics.md has the fields
[[nodiscard]] std::string stats_table(const std::string& job, const nlohmann::json& said);

}  // namespace pgas_info
