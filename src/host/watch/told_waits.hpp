/// @file
/// The waits that the PEs of a job report: parsed from their answers, and as text. Used by pgas-why, and by a PE that
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

/// A word in the heap for which a call waits.
struct awaited_word {
  std::uint64_t offset = 0;
  std::string compare;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  std::optional<allocation> around{};  ///< the allocation that contains the word
};

/// The team of the collective that a wait belongs to.
struct team {
  std::uint64_t id = 0;
  std::vector<int> members;  ///< empty: all PEs
};

/// A write that is enqueued on a stream. The write does not run while earlier work of the stream waits.
struct enqueued_write {
  std::string what;
  int pe = 0;  ///< the PE that owns the written memory
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A wait of a kernel's thread, of a stream, of a host thread, or in a collective call.
struct wait {
  std::string what;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> thread{};  ///< for a kernel: block and thread
  /// The PEs for which the call waits; empty if the call does not know the PEs.
  std::vector<int> pes;
  std::optional<awaited_word> word{};
  std::optional<team> of_team{};
  std::optional<std::uint64_t> number{};  ///< for a collective of the control plane: its number
  long ms = 0;
  bool of_stream = false;                ///< the host has enqueued the waiting operation
  std::vector<enqueued_write> behind{};  ///< the writes that follow this wait on the same stream
  std::string writer{};                  ///< "put is enqueued behind a wait on a stream of PE 1", if that is known
};

/// A call in progress of a host thread.
struct call {
  std::string name;
  long ms = 0;
};

/// A usage error: two groups of threads of a PE are in collectives on the same channel of a team at the same time.
struct crowd {
  team members;
  int channel = 0;
  std::pair<std::uint32_t, std::uint32_t> first;  ///< block and thread
  std::pair<std::uint32_t, std::uint32_t> second;
};

/// The reports of one PE.
struct pe_state {
  enum class life { answers, silent, stopped, gone };

  int pe = 0;
  pid_t pid = 0;
  std::string host;
  bool here = false;  ///< whether the process runs on this host
  life is = life::silent;
  bool joining = false;
  bool leaving = false;
  bool more = false;  ///< whether the PE has further waits, which are not listed
  std::vector<wait> waits;
  std::vector<call> calls;
  std::optional<crowd> crowded{};
  std::uint64_t short_calls = 0;  ///< the number of calls, during the question, that wait for no PE
  long idle_ms = 0;               ///< the time since the end of the last call that can wait
  long looked_ms = 0;             ///< the time that the PE has waited for answers of its kernels
};

/// The PEs of a job, from the message in which one PE lists them. *Errors* nlohmann::json::exception, as read_answer().
[[nodiscard]] std::vector<pe_state> introduced(const nlohmann::ordered_json& by);
/// Stores the answer of a PE in its state. Control characters in its strings are escaped.
void read_answer(pe_state& state, const nlohmann::ordered_json& from);
/// Completes the report after all answers. Adds the system's information about processes of this host that have not
/// answered. If the write of an awaited word is enqueued after a wait on a stream, also adds the PE that must write the
/// word.
void complete(std::vector<pe_state>& pes);

/// Parses documents and calls introduced(), read_answer() and complete(). Returns no PEs if a document cannot be
/// parsed.
[[nodiscard]] std::vector<pe_state> read_answers(std::string_view introduction,
                                                 const std::vector<std::string>& answers);

// ---- in words ----

/// "8.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(long ms);
/// The name of a team, such as "the team of all PEs" or "team 0.2 of PEs 0, 3". In "0.2", 0 is the PE that numbered the
/// team, and 2 is the number; each PE counts from 0.
[[nodiscard]] std::string name_of(const team& item);
/// The activity of a PE that does not wait, if known: "has been in no call of this world for 8.2 s".
[[nodiscard]] std::string activity_of(const pe_state& state);
/// The call that waits, with its team: "barrier in a kernel", "allocate", "fcollect of team 0.2 of PEs 0, 3".
[[nodiscard]] std::string place_of(const pe_state& state, const wait& item);
/// A wait in words: the call, the PEs for which it waits, and the word.
[[nodiscard]] std::string describe(const pe_state& state, const wait& item);

}  // namespace pgas::detail::told
