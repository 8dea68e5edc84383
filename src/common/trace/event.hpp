/// @file
/// An event of the trace: threads record it, files contain it, and pgas-trace reads it.
#pragma once

#include <cstdint>

namespace pgas::trace {

enum class event_kind : std::uint8_t { call, put, get, atomic, signal, wait, collective };
/// The executor of the operation.
enum class caller : std::uint8_t { host, stream, kernel, proxy };
enum class route : std::uint8_t { none, direct, proxied };
/// The effect of a signal or an atomic operation on its word.
enum class update : std::uint8_t { none, set, add, other };

inline constexpr std::uint64_t no_offset = ~std::uint64_t{0};

/// The details of an event, as numbers. Fields that do not apply keep their defaults.
struct event_facts {
  std::int64_t begin = 0;  ///< start in nanoseconds, on the clock of the PE; in a file, on the clock of PE 0
  std::int64_t end = 0;    ///< equal to `begin` for an event without duration
  std::uint64_t bytes = 0;
  std::uint64_t offset = no_offset;  ///< the offset in the heap of the word that is updated or waited for
  std::uint64_t value = 0;           ///< the value that is set or added, or with which the word is compared
  std::uint64_t seen = 0;            ///< the value that ended the wait
  std::uint64_t team = 0;            ///< for a collective: an id of the team, equal on all members
  std::uint64_t number = 0;          ///< the number of a collective in its team, from 1; 0: unknown
  std::uint64_t stream = 0;          ///< the stream on which the event was enqueued; 0: none, or the default stream
  std::int32_t peer = -1;            ///< the world number of the other PE; -1: none, or not known
  event_kind kind = event_kind::call;
  caller by = caller::host;
  trace::route route = trace::route::none;
  trace::update update = trace::update::none;
  std::int8_t compare = -1;  ///< for a wait: a pgas::cmp
};

/// The words for the enumerators, in files and in the output of pgas-trace.
inline constexpr const char* kind_words[] = {"call", "put", "get", "atomic", "signal", "wait", "collective"};
inline constexpr const char* caller_words[] = {"host", "stream", "kernel", "proxy"};
inline constexpr const char* route_words[] = {"", "direct", "proxied"};
inline constexpr const char* update_words[] = {"", "set", "add", "other"};
inline constexpr const char* compare_words[] = {"==", "!=", ">", "<=", "<", ">="};

}  // namespace pgas::trace
