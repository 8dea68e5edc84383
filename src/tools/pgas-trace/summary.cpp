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
std::map<const event*, std::int32_t> peers_of_waits(const document& trace, const arrows& found) {
  std::map<const event*, const event*> last;
  std::map<const event*, std::int32_t> peers;
  for (const arrow& item : found.all) {
    const event* const from = &at(trace, item.from);
    const event* const wait = &at(trace, item.wait);
    const event*& before = last[wait];
    if (before != nullptr && before->facts.begin > from->facts.begin) continue;
    before = from;
    peers[wait] = trace.pes[item.from.pe].pe;
  }
  return peers;
}

/// The PE for which the members of a collective waited: the member that arrived last.
std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> last_of_collectives(const document& trace) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int64_t, std::int32_t>> latest;
  for (const pgas::trace::pe_trace& pe : trace.pes)
    for (const pgas::trace::track& track : pe.tracks)
      for (const event& item : track.events) {
        if (item.facts.kind != event_kind::collective || item.facts.number == 0) continue;
        auto& last = latest.try_emplace({item.facts.team, item.facts.number}, INT64_MIN, -1).first->second;
        last = std::max(last, {item.facts.begin, pe.pe});
      }
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> found;
  for (const auto& [key, last] : latest) found[key] = last.second;
  return found;
}

}  // namespace

summary summarize(const merged_trace& from) {
  const document& trace = from.all;
  summary result;
  result.remarks = from.remarks;
  result.job = trace.pes.front().job;
  result.pes = trace.pes.front().pes;
  result.found = find_arrows(trace);
  const auto peers = peers_of_waits(trace, result.found);
  const auto last = last_of_collectives(trace);
  std::int64_t first = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (const pgas::trace::pe_trace& pe : trace.pes) {
    result.clock_error = std::max(result.clock_error, pe.clock_error);
    result.lost += pe.lost;
    for (const pgas::trace::track& track : pe.tracks)
      for (const event& item : track.events) {
        const event_facts& facts = item.facts;
        first = std::min(first, facts.begin);
        end = std::max(end, facts.end);
        const auto word = [](const auto& words, auto value) { return std::string(words[static_cast<int>(value)]); };
        if (is_operation(facts)) {
          result
              .operations[{word(pgas::trace::caller_words, facts.by), word(pgas::trace::route_words, facts.route),
                           word(pgas::trace::kind_words, facts.kind)}]
              .add(facts);
          if (facts.by != caller::proxy && facts.peer >= 0) result.pairs[{pe.pe, facts.peer}].add(facts);
        }
        if (facts.begin == facts.end) continue;  // events without duration are parts of waits, or copies of calls
        if (facts.kind == event_kind::wait) {
          const auto peer = peers.find(&item);
          result.waits[{pe.pe, peer == peers.end() ? -1 : peer->second}].add(facts);
        } else if (facts.kind == event_kind::collective && facts.by != caller::stream) {
          const auto peer = last.find({facts.team, facts.number});
          result.waits[{pe.pe, peer == last.end() ? -1 : peer->second}].add(facts);
        }
        if (facts.by == caller::host || facts.by == caller::stream) result.calls[item.name].add(facts);
      }
  }
  if (first > end) return result;
  result.ns = end - first;
  result.iteration = last_iteration(trace);
  result.path = critical_path(trace, result.found, result.iteration);
  return result;
}

}  // namespace pgas_trace
