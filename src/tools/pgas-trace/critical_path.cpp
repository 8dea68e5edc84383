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

using releases = std::vector<std::vector<release>>;  // indexed by the PE that continued

bool is_host_collective(const event_facts& facts) {
  return facts.kind == event_kind::collective && facts.by == caller::host && facts.number != 0;
}

template <class Use>
void for_each_event(const document& trace, const Use& use) {
  for (std::size_t pe = 0; pe < trace.pes.size(); ++pe)
    for (const pgas::trace::track& track : trace.pes[pe].tracks)
      for (const event& item : track.events) use(pe, item);
}

void add_signals(const document& trace, const arrows& found, releases& all) {
  for (const arrow& item : found.all) {
    const event& from = at(trace, item.from);
    const event& to = at(trace, item.wait);
    if (from.facts.begin > to.facts.begin && from.facts.begin < to.facts.end)
      all[item.wait.pe].push_back({to.facts.end, item.from.pe, from.facts.begin, to.name});
  }
}

void add_collectives(const document& trace, releases& all) {
  struct member {
    std::size_t pe;
    const event* call;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<member>> calls;
  for_each_event(trace, [&](std::size_t pe, const event& item) {
    if (is_host_collective(item.facts)) calls[{item.facts.team, item.facts.number}].push_back({pe, &item});
  });
  for (const auto& [key, members] : calls) {
    const member last =
        *std::ranges::max_element(members, {}, [](const member& item) { return item.call->facts.begin; });
    for (const member& item : members)
      if (item.pe != last.pe && last.call->facts.begin < item.call->facts.end)
        all[item.pe].push_back({item.call->facts.end, last.pe, last.call->facts.begin, item.call->name});
  }
}

}  // namespace

stretch last_iteration(const document& trace) {
  stretch found{INT64_MAX, INT64_MIN};
  // The barriers of the world, by number: how many PEs have called the barrier, and the end of the last call.
  std::map<std::uint64_t, std::pair<std::size_t, std::int64_t>> barriers;
  for_each_event(trace, [&](std::size_t, const event& item) {
    found.begin = std::min(found.begin, item.facts.begin);
    found.end = std::max(found.end, item.facts.end);
    if (!is_host_collective(item.facts) || item.facts.team != 0) return;
    auto& [pes, end] = barriers[item.facts.number];
    end = pes++ == 0 ? item.facts.end : std::max(end, item.facts.end);
  });
  std::erase_if(barriers, [&](const auto& item) { return item.second.first != trace.pes.size(); });
  if (barriers.size() >= 2) {
    found.end = std::prev(barriers.end())->second.second;
    found.begin = std::prev(barriers.end(), 2)->second.second;
  }
  return found.begin <= found.end ? found : stretch{};
}

std::vector<path_step> critical_path(const document& trace, const arrows& found, const stretch& within) {
  releases all(trace.pes.size());
  add_signals(trace, found, all);
  add_collectives(trace, all);
  for (std::vector<release>& item : all) std::ranges::sort(item, {}, &release::time);
  std::size_t pe = 0;
  std::int64_t latest = INT64_MIN;
  for_each_event(trace, [&](std::size_t on, const event& item) {
    if (item.facts.end <= within.end && item.facts.end > latest) {
      latest = item.facts.end;
      pe = on;
    }
  });
  std::vector<path_step> path;
  std::int64_t time = within.end;
  while (time > within.begin) {
    const auto after = std::ranges::upper_bound(all[pe], time, {}, &release::time);
    // Goes back to the last release before `time`. Because of the error of the clocks, a release can begin at `time` or
    // later. Such a release is not part of the path.
    auto before = after;
    while (before != all[pe].begin() && std::prev(before)->since >= time) --before;
    const std::int32_t number = trace.pes[pe].pe;
    if (before == all[pe].begin() || std::prev(before)->time <= within.begin) {
      path.push_back({number, -1, within.begin, time, {}});
      break;
    }
    const release& by = *std::prev(before);
    if (by.time < time) path.push_back({number, -1, by.time, time, {}});
    const std::int64_t since = std::max(by.since, within.begin);
    path.push_back({number, trace.pes[by.pe].pe, since, std::min(by.time, time), by.what});
    time = since;
    pe = by.pe;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace pgas_trace
