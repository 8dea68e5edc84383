/// @file
/// Finds the jobs of this user on this host, and asks one of them what its PEs wait for, or what they have counted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/control/question_service.hpp"
#include "host/heap/allocation_list.hpp"

namespace pgas_why {

/// A job by the sockets of those of its PEs that are on this host.
struct job {
  std::string name;  ///< 16 digits
  std::vector<std::string> sockets;
};

/// A word in the heap that somebody waits for.
struct awaited_word {
  std::uint64_t offset = 0;
  std::string compare;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  std::optional<pgas::detail::allocation> around{};  ///< that it lies in
};

/// One wait: of a thread of a kernel, of a host thread, or in a collective call.
struct wait {
  std::string what;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> thread;  ///< of a kernel: block and thread
  std::vector<int> pes;                                           ///< waited for; empty where the wait does not know
  std::optional<awaited_word> word;
  std::optional<std::uint64_t> number;  ///< of a collective of the control plane
  long ms = 0;
};

/// A call that a host thread is in.
struct call {
  std::string name;
  long ms = 0;
};

/// What is known of a PE.
struct pe_state {
  enum class life { answers, silent, stopped, gone };

  int pe = 0;
  pid_t pid = 0;
  std::string host;
  bool here = false;  ///< on this host
  life is = life::silent;
  bool joining = false;
  bool leaving = false;
  bool more = false;  ///< it has more waits than these
  std::vector<wait> waits;
  std::vector<call> calls;
  std::uint64_t short_calls = 0;  ///< operations that wait for nobody, in the time of the question
  long idle_ms = 0;               ///< since its last call ended that may wait
  long looked_ms = 0;             ///< its kernels had so long to answer
};

/// The jobs that have a socket here, of all users. @param directory PGAS_SOCKET_DIR, empty for none
[[nodiscard]] std::vector<job> find_jobs(const std::string& directory);

/// Whether `wanted` may mean this job: its name, the beginning of it, the pid of one of its PEs here; empty: any job.
[[nodiscard]] bool may_be(const std::string& wanted, const job& one);
/// The same once its PEs are known. @param pes as they say, see ask()
[[nodiscard]] bool is(const std::string& wanted, const nlohmann::json& pes);

/// The job and the PE that the name of a socket stands for; none for other names, and for numbers that no PE writes.
[[nodiscard]] std::optional<std::pair<std::string, int>> parse_name(std::string_view name);

/// What the PEs of a job say: an object with `pes`, as the first that answered knows them, and `answers`. Without `pes`
/// none answers this user. Only processes of this user are asked; root asks all. What they say has the fields that
/// docs/debugging.md or docs/metrics.md names; other text is dropped with the one that says it. Takes at most 1.5 s.
[[nodiscard]] nlohmann::json ask(const job& whom, pgas::detail::question what);

/// The PEs of a job, in order; none where no PE of it answers this user. Strings in them are printable. Takes at most
/// 1.5 s. @param answers what the PEs sent, for --json
[[nodiscard]] std::vector<pe_state> ask(const job& whom, nlohmann::json& answers);

}  // namespace pgas_why
