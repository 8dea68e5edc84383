/// @file
/// What the PEs of a job say of their waits: read from their answers, and in words. Used by pgas-why, and by a PE that
/// warns of a wait.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/heap/allocation_list.hpp"

namespace pgas::detail::told {

/// A word in the heap that a wait is for.
struct awaited_word {
  std::uint64_t offset = 0;
  std::string compare;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  std::optional<allocation> around{};  ///< that it lies in
};

/// The team whose collective a wait is part of.
struct team {
  std::uint64_t id = 0;
  std::vector<int> members;  ///< empty: all PEs
};

/// A write that a stream has been given: it has not run while earlier work of the stream waits.
struct enqueued_write {
  std::string what;
  int pe = 0;  ///< whose memory it writes
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// One wait: of a thread of a kernel, of a stream, of a host thread, or in a collective call.
struct wait {
  std::string what;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> thread{};  ///< of a kernel: block and thread
  std::vector<int> pes;                                             ///< waited for; empty where the wait does not know
  std::optional<awaited_word> word{};
  std::optional<team> of_team{};
  std::optional<std::uint64_t> number{};  ///< of a collective of the control plane
  long ms = 0;
  bool of_stream = false;                ///< the host has enqueued it
  std::vector<enqueued_write> behind{};  ///< writes that are behind this wait on its stream
  std::string writer{};                  ///< "put is enqueued behind a wait on a stream of PE 1": where that is known
};

/// A call that a host thread is in.
struct call {
  std::string name;
  long ms = 0;
};

/// Two groups of threads of a PE in collectives of one channel of a team at the same time.
struct crowd {
  team of;
  int channel = 0;
  std::pair<std::uint32_t, std::uint32_t> first;  ///< block and thread
  std::pair<std::uint32_t, std::uint32_t> second;
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
  std::optional<crowd> crowded{};
  std::uint64_t short_calls = 0;  ///< operations that wait for nobody, in the time of the question
  long idle_ms = 0;               ///< since its last call ended that may wait
  long looked_ms = 0;             ///< its kernels had so long to answer
};

/// The PEs of a job as one of them introduces them. *Errors* nlohmann::json::exception, as the next one.
[[nodiscard]] std::vector<pe_state> introduced(const nlohmann::json& by);
/// Takes the answer of a PE. Strings in the state are printable.
void read_answer(pe_state& state, const nlohmann::json& from);
/// What can be said once all answers are there: what the system says of processes of this host that have not answered,
/// and which PE is to write a word, where that write is behind a wait on a stream.
void complete(std::vector<pe_state>& pes);

/// All three, of documents; no PEs where one of the documents can't be read.
[[nodiscard]] std::vector<pe_state> read_answers(std::string_view introduction,
                                                 const std::vector<std::string>& answers);

// ---- in words ----

/// "8.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(long ms);
/// "the team of all PEs", "team 0.2 of PEs 0, 3": the third team that PE 0 has proposed.
[[nodiscard]] std::string name_of(const team& one);
/// What a PE does that does not wait, as far as it is known: "is in no call of this world since 8.2 s".
[[nodiscard]] std::string activity_of(const pe_state& of);
/// Where a wait is: "barrier in a kernel", "allocate", "fcollect of team 0.2 of PEs 0, 3".
[[nodiscard]] std::string place_of(const pe_state& of, const wait& one);
/// A wait in words: where, for whom, which word.
[[nodiscard]] std::string describe(const pe_state& of, const wait& one);

}  // namespace pgas::detail::told
