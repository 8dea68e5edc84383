// Constructed traces for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/trace/document.hpp"

namespace played {

using namespace pgas::trace;

/// A signal to word `offset` of PE `peer`.
inline event signal(std::int64_t begin, int peer, std::uint64_t offset, update how, std::uint64_t value) {
  event result;
  result.name = "put_signal";
  result.facts.begin = begin;
  result.facts.end = begin + 1;
  result.facts.kind = event_kind::signal;
  result.facts.peer = peer;
  result.facts.offset = offset;
  result.facts.update = how;
  result.facts.value = value;
  return result;
}

/// A wait for word `offset` that saw `seen`.
inline event wait(std::int64_t begin, std::int64_t end, std::uint64_t offset, std::uint64_t seen) {
  event result;
  result.name = "wait_until";
  result.facts.begin = begin;
  result.facts.end = end;
  result.facts.kind = event_kind::wait;
  result.facts.offset = offset;
  result.facts.compare = 5;
  result.facts.seen = seen;
  return result;
}

inline event barrier(std::int64_t begin, std::int64_t end, std::uint64_t number) {
  event result;
  result.name = "barrier";
  result.facts.begin = begin;
  result.facts.end = end;
  result.facts.kind = event_kind::collective;
  result.facts.number = number;
  return result;
}

/// A trace with one track for each PE.
inline document pes(std::vector<std::vector<event>> events) {
  document result;
  for (std::vector<event>& each : events) {
    pe_trace& pe = result.pes.emplace_back();
    pe.pe = static_cast<std::int32_t>(result.pes.size()) - 1;
    pe.pes = static_cast<std::int32_t>(events.size());
    pe.tracks.push_back({"main", std::move(each)});
  }
  return result;
}

}  // namespace played
