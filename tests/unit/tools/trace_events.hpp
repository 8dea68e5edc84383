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
  event made;
  made.name = "put_signal";
  made.facts.begin = begin;
  made.facts.end = begin + 1;
  made.facts.kind = event_kind::signal;
  made.facts.peer = peer;
  made.facts.offset = offset;
  made.facts.update = how;
  made.facts.value = value;
  return made;
}

/// A wait for word `offset` that saw `seen`.
inline event wait(std::int64_t begin, std::int64_t end, std::uint64_t offset, std::uint64_t seen) {
  event made;
  made.name = "wait_until";
  made.facts.begin = begin;
  made.facts.end = end;
  made.facts.kind = event_kind::wait;
  made.facts.offset = offset;
  made.facts.compare = 5;
  made.facts.seen = seen;
  return made;
}

inline event barrier(std::int64_t begin, std::int64_t end, std::uint64_t number) {
  event made;
  made.name = "barrier";
  made.facts.begin = begin;
  made.facts.end = end;
  made.facts.kind = event_kind::collective;
  made.facts.number = number;
  return made;
}

/// A trace with one track for each PE.
inline document pes(std::vector<std::vector<event>> events) {
  document made;
  for (std::vector<event>& each : events) {
    pe_trace& one = made.pes.emplace_back();
    one.pe = static_cast<std::int32_t>(made.pes.size()) - 1;
    one.pes = static_cast<std::int32_t>(events.size());
    one.tracks.push_back({"main", std::move(each)});
  }
  return made;
}

}  // namespace played
