/// @file
/// Finds the jobs of this user on this host, and asks one of them for the waits or the counters of its PEs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/control/question_service.hpp"
#include "host/watch/told_waits.hpp"

namespace pgas_why {

using namespace pgas::detail::told;

/// A job by the sockets of those of its PEs that are on this host.
struct job {
  std::string name;  ///< 16 digits
  std::vector<std::string> sockets;
};

/// The jobs that have a socket here, of all users. @param directory PGAS_SOCKET_DIR, empty for none
[[nodiscard]] std::vector<job> find_jobs(const std::string& directory);

/// Whether `wanted` may mean this job: its name, the beginning of it, the pid of one of its PEs here; empty: any job.
[[nodiscard]] bool may_be(const std::string& wanted, const job& one);
/// The same once its PEs are known. @param pes as they say, see ask()
[[nodiscard]] bool is(const std::string& wanted, const nlohmann::json& pes);

/// The job and the PE that the name of a socket stands for; none for other names, and for numbers that no PE writes.
[[nodiscard]] std::optional<std::pair<std::string, int>> parse_name(std::string_view name);

/// The answers of the PEs of a job: an object with `pes`, as the first that answered knows them, and `answers`. Without
/// `pes` none answers this user. Only processes of this user are asked; root asks all. What they say has the fields
/// that docs/debugging.md or docs/metrics.md names; other text is dropped with the one that says it. Takes at most 1.5
/// s.
[[nodiscard]] nlohmann::json ask(const job& whom, pgas::detail::question what);

/// The PEs of a job, in order; none where no PE of it answers this user. Strings in them are printable. Takes at most
/// 1.5 s. @param answers what the PEs sent, for --json
[[nodiscard]] std::vector<pe_state> ask(const job& whom, nlohmann::json& answers);

/// A PE on this host, by the name of its socket.
struct answering_pe {
  std::string job;
  int pe = 0;
  bool owned = false;   ///< whether the PE is this user's, or this user is root; false where that is not known
  nlohmann::json said;  ///< null where the PE has not answered
};

/// Asks each PE of this user on this host for its own statistics, all at the same time. The result is in the order of
/// job and PE, without the PEs of other users. Takes at most 1.1 s, where a PE does not answer.
[[nodiscard]] std::vector<answering_pe> ask_each(const std::vector<job>& jobs);

}  // namespace pgas_why
