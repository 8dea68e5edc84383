#include "tools/pgas-trace/summary.hpp"

#include <algorithm>

namespace pgas_trace {

namespace {

using pgas::trace::caller;
using pgas::trace::document;
using pgas::trace::event;
using pgas::trace::event_facts;
using pgas::trace::event_kind;

bool is_operation(const event_facts& facts) {
  return facts.kind == event_kind::put || facts.kind == event_kind::get || facts.kind == event_kind::atomic ||
         facts.kind == event_kind::signal;
}

/// The PE for which a wait waited: the PE that sent the last signal before the wait ended.
std::map<const event*, std::int32_t> peers_of_waits(const document& of, const arrows& found) {
  std::map<const event*, const event*> last;
  std::map<const event*, std::int32_t> peers;
  for (const arrow& one : found.all) {
    const event* const from = &at(of, one.from);
    const event* const wait = &at(of, one.wait);
    const event*& before = last[wait];
    if (before != nullptr && before->facts.begin > from->facts.begin) continue;
    before = from;
    peers[wait] = of.pes[one.from.pe].pe;
  }
  return peers;
}

/// The PE for which the members of a collective waited: the member that arrived last.
std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> last_of_collectives(const document& of) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int64_t, std::int32_t>> latest;
  for (const pgas::trace::pe_trace& pe : of.pes)
    for (const pgas::trace::track& track : pe.tracks)
      for (const event& one : track.events) {
        if (one.facts.kind != event_kind::collective || one.facts.number == 0) continue;
        auto& last = latest.try_emplace({one.facts.team, one.facts.number}, INT64_MIN, -1).first->second;
        last = std::max(last, {one.facts.begin, pe.pe});
      }
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> found;
  for (const auto& [key, last] : latest) found[key] = last.second;
  return found;
}

}  // namespace

summary summarize(const joined& from) {
  const document& of = from.all;
  summary made;
  made.remarks = from.remarks;
  made.job = of.pes.front().job;
  made.pes = of.pes.front().pes;
  made.found = find_arrows(of);
  const auto peers = peers_of_waits(of, made.found);
  const auto last = last_of_collectives(of);
  std::int64_t first = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (const pgas::trace::pe_trace& pe : of.pes) {
    made.clock_error = std::max(made.clock_error, pe.clock_error);
    made.lost += pe.lost;
    for (const pgas::trace::track& track : pe.tracks)
      for (const event& one : track.events) {
        const event_facts& facts = one.facts;
        first = std::min(first, facts.begin);
        end = std::max(end, facts.end);
        const auto word = [](const auto& words, auto value) { return std::string(words[static_cast<int>(value)]); };
        if (is_operation(facts)) {
          made.operations[{word(pgas::trace::caller_words, facts.by), word(pgas::trace::route_words, facts.route),
                           word(pgas::trace::kind_words, facts.kind)}]
              .add(facts);
          if (facts.by != caller::proxy && facts.peer >= 0) made.pairs[{pe.pe, facts.peer}].add(facts);
        }
        if (facts.begin == facts.end) continue;  // events without duration are parts of waits, or copies of calls
        if (facts.kind == event_kind::wait) {
          const auto peer = peers.find(&one);
          made.waits[{pe.pe, peer == peers.end() ? -1 : peer->second}].add(facts);
        } else if (facts.kind == event_kind::collective && facts.by != caller::stream) {
          const auto peer = last.find({facts.team, facts.number});
          made.waits[{pe.pe, peer == last.end() ? -1 : peer->second}].add(facts);
        }
        if (facts.by == caller::host || facts.by == caller::stream) made.calls[one.name].add(facts);
      }
  }
  if (first > end) return made;
  made.ns = end - first;
  made.iteration = last_iteration(of);
  made.path = critical_path(of, made.found, made.iteration);
  return made;
}

}  // namespace pgas_trace
