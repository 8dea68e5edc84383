#include "tools/pgas-trace/critical_path.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pgas_trace {

namespace {

using pgas::trace::caller;
using pgas::trace::document;
using pgas::trace::event;
using pgas::trace::event_facts;
using pgas::trace::event_kind;

/// A moment at which a PE continued because of an action of another PE.
struct release {
  std::int64_t time;   ///< the time, on the PE that continued
  std::size_t pe;      ///< the PE whose action was the cause
  std::int64_t since;  ///< the time of the action
  std::string what;
};

using releases = std::vector<std::vector<release>>;  // by the PE that continued, in the order of time

bool is_host_collective(const event_facts& facts) {
  return facts.kind == event_kind::collective && facts.by == caller::host && facts.number != 0;
}

template <class Use>
void for_each_event(const document& of, const Use& use) {
  for (std::size_t pe = 0; pe < of.pes.size(); ++pe)
    for (const pgas::trace::track& track : of.pes[pe].tracks)
      for (const event& one : track.events) use(pe, one);
}

void add_signals(const document& of, const arrows& found, releases& all) {
  for (const arrow& one : found.all) {
    const event& from = at(of, one.from);
    const event& to = at(of, one.wait);
    if (from.facts.begin > to.facts.begin && from.facts.begin < to.facts.end)
      all[one.wait.pe].push_back({to.facts.end, one.from.pe, from.facts.begin, to.name});
  }
}

void add_collectives(const document& of, releases& all) {
  struct member {
    std::size_t pe;
    const event* call;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<member>> calls;
  for_each_event(of, [&](std::size_t pe, const event& one) {
    if (is_host_collective(one.facts)) calls[{one.facts.team, one.facts.number}].push_back({pe, &one});
  });
  for (const auto& [key, members] : calls) {
    const member last = *std::ranges::max_element(members, {}, [](const member& one) { return one.call->facts.begin; });
    for (const member& one : members)
      if (one.pe != last.pe && last.call->facts.begin < one.call->facts.end)
        all[one.pe].push_back({one.call->facts.end, last.pe, last.call->facts.begin, one.call->name});
  }
}

}  // namespace

stretch last_iteration(const document& of) {
  stretch found{INT64_MAX, INT64_MIN};
  // for barriers of the world: the number of PEs, and the end of the last call
  std::map<std::uint64_t, std::pair<std::size_t, std::int64_t>> barriers;
  for_each_event(of, [&](std::size_t, const event& one) {
    found.begin = std::min(found.begin, one.facts.begin);
    found.end = std::max(found.end, one.facts.end);
    if (!is_host_collective(one.facts) || one.facts.team != 0) return;
    auto& [pes, end] = barriers[one.facts.number];
    end = pes++ == 0 ? one.facts.end : std::max(end, one.facts.end);
  });
  std::erase_if(barriers, [&](const auto& one) { return one.second.first != of.pes.size(); });
  if (barriers.size() >= 2) {
    found.end = std::prev(barriers.end())->second.second;
    found.begin = std::prev(barriers.end(), 2)->second.second;
  }
  return found.begin <= found.end ? found : stretch{};
}

std::vector<path_step> critical_path(const document& of, const arrows& found, const stretch& within) {
  releases all(of.pes.size());
  add_signals(of, found, all);
  add_collectives(of, all);
  for (std::vector<release>& one : all) std::ranges::sort(one, {}, &release::time);
  std::size_t pe = 0;
  std::int64_t latest = INT64_MIN;
  for_each_event(of, [&](std::size_t on, const event& one) {
    if (one.facts.end <= within.end && one.facts.end > latest) {
      latest = one.facts.end;
      pe = on;
    }
  });
  std::vector<path_step> path;
  std::int64_t time = within.end;
  while (time > within.begin) {
    const auto after = std::ranges::upper_bound(all[pe], time, {}, &release::time);
    // Goes back to the last release before `time`. A release that began at `time` or later, by the error of the clocks,
    // is not part of the path.
    auto before = after;
    while (before != all[pe].begin() && std::prev(before)->since >= time) --before;
    const std::int32_t number = of.pes[pe].pe;
    if (before == all[pe].begin() || std::prev(before)->time <= within.begin) {
      path.push_back({number, -1, within.begin, time, {}});
      break;
    }
    const release& by = *std::prev(before);
    if (by.time < time) path.push_back({number, -1, by.time, time, {}});
    const std::int64_t since = std::max(by.since, within.begin);
    path.push_back({number, of.pes[by.pe].pe, since, std::min(by.time, time), by.what});
    time = since;
    pe = by.pe;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace pgas_trace
