/// @file
/// Finds the jobs of this user on this host, and asks the PEs of a job for their waits or counters.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/failure/question_service.hpp"
#include "host/watch/told_waits.hpp"
#include "tools/common/find_sockets.hpp"

namespace pgas_why {

using namespace pgas::detail::told;

/// A job, and the sockets of its PEs on this host.
struct job {
  std::string name;  ///< 16 digits
  std::vector<pgas::tools::found_socket> sockets;
};

/// The jobs that have a socket on this host, of all users. @param directory PGAS_SOCKET_DIR; empty if it is not set
[[nodiscard]] std::vector<job> find_jobs(const std::string& directory);

/// Whether `wanted` can identify this job. `wanted` can be the job's name, the beginning of the name, or the pid of one
/// of the job's PEs on this host. An empty `wanted` identifies any job.
[[nodiscard]] bool may_be(const std::string& wanted, const job& item);
/// Whether `wanted` identifies the job with these PEs. @param pes the PEs that ask() has returned
[[nodiscard]] bool is(const std::string& wanted, const nlohmann::ordered_json& pes);

/// The job and the PE that a socket's name contains. Empty for other names, and for numbers in a form that PEs do not
/// use.
[[nodiscard]] std::optional<std::pair<std::string, int>> parse_name(std::string_view name);

/// The answers of the PEs of a job: an object with `answers`, and with `pes`, the list from the first PE that answered.
/// If `pes` is missing, no PE answers this user. Only processes of this user are asked; root asks all processes.
/// docs/debugging.md and docs/metrics.md list the fields. A PE that sends other text is dropped. Takes at most 1.5 s.
[[nodiscard]] nlohmann::ordered_json ask(const job& whom, pgas::detail::question what);

/// The PEs of a job, in the order of their numbers. Empty if no PE of the job answers this user. Strings are printable.
/// Takes at most 1.5 s.
/// @param answers receives the documents of the PEs, for --json
[[nodiscard]] std::vector<pe_state> ask(const job& whom, nlohmann::ordered_json& answers);

/// A PE on this host, identified by the name of its socket.
struct answering_pe {
  std::string job;
  int pe = 0;
  bool owned = false;  ///< whether the PE belongs to this user, or this user is root; false if that is not known
  nlohmann::ordered_json said;  ///< null if the PE has not answered
};

/// Asks each PE of this user on this host for its own statistics, all at the same time. The result is in the order of
/// job and PE, without the PEs of other users. Takes at most 1.1 s if a PE does not answer.
[[nodiscard]] std::vector<answering_pe> ask_each(const std::vector<job>& jobs);

}  // namespace pgas_why
