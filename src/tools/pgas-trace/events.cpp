#include "tools/pgas-trace/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/pgas-trace/arrows.hpp"

namespace pgas_trace {

namespace {

using nlohmann::ordered_json;
using pgas::trace::document;
using pgas::trace::event_facts;

/// Calls `use` with the place and the facts of each event of the selected callers.
template <class Use>
void for_events(const document& of, const std::vector<std::string>& callers, const Use& use) {
  for (std::size_t pe = 0; pe < of.pes.size(); ++pe)
    for (std::size_t track = 0; track < of.pes[pe].tracks.size(); ++track)
      for (std::size_t event = 0; event < of.pes[pe].tracks[track].events.size(); ++event) {
        const event_facts& facts = of.pes[pe].tracks[track].events[event].facts;
        const std::string by = pgas::trace::caller_words[static_cast<int>(facts.by)];
        if (callers.empty() || std::ranges::find(callers, by) != callers.end()) use(place{pe, track, event}, facts);
      }
}

/// The members that apply to the event. The names are those that ui.perfetto.dev shows.
ordered_json describe(const document& of, const place& where) {
  const pgas::trace::event& what = at(of, where);
  const event_facts& facts = what.facts;
  ordered_json made = {{"pe", of.pes[where.pe].pe},
                       {"track", of.pes[where.pe].tracks[where.track].name},
                       {"category", pgas::trace::kind_words[static_cast<int>(facts.kind)]},
                       {"name", what.name},
                       {"by", pgas::trace::caller_words[static_cast<int>(facts.by)]},
                       {"begin_ns", facts.begin},
                       {"end_ns", facts.end}};
  if (facts.route != pgas::trace::route::none) made["route"] = pgas::trace::route_words[static_cast<int>(facts.route)];
  if (facts.peer >= 0) made["peer"] = facts.peer;
  if (facts.bytes != 0) made["bytes"] = facts.bytes;
  if (facts.offset != pgas::trace::no_offset) made["offset"] = facts.offset;
  if (facts.update != pgas::trace::update::none)
    made["update"] = pgas::trace::update_words[static_cast<int>(facts.update)];
  if (facts.compare >= 0) made["compare"] = pgas::trace::compare_words[facts.compare];
  if (facts.update != pgas::trace::update::none || facts.compare >= 0) made["value"] = facts.value;
  if (facts.kind == pgas::trace::event_kind::wait && facts.offset != pgas::trace::no_offset) made["seen"] = facts.seen;
  return made;
}

}  // namespace

std::string events_json(const joined& from, const selection& which) {
  constexpr double ns_per_ms = 1e6;
  const document& of = from.all;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for_events(of, which.callers, [&](const place&, const event_facts& facts) {
    first = std::min(first, facts.begin);
    last = std::max(last, facts.end);
  });
  if (first > last) first = last = 0;  // no event matches
  const auto begin = first + static_cast<std::int64_t>(which.from_ms * ns_per_ms);
  const double lasts = std::min(which.ms * ns_per_ms, static_cast<double>(std::max<std::int64_t>(0, last - begin)));
  const std::int64_t end = begin + static_cast<std::int64_t>(lasts);

  std::vector<place> places;
  for_events(of, which.callers, [&](const place& where, const event_facts& facts) {
    if (facts.end >= begin && facts.begin <= end) places.push_back(where);
  });
  std::ranges::stable_sort(places, {},
                           [&](const place& one) { return std::tuple(one.pe, one.track, at(of, one).facts.begin); });
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> index;
  std::string events;
  for (const place& one : places) {
    events += fmt::format("{}\n{}", index.empty() ? "" : ",",
                          describe(of, one).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    index.emplace(std::tuple(one.pe, one.track, one.event), index.size());
  }
  ordered_json arrows = ordered_json::array();
  for (const arrow& one : find_arrows(of).all) {
    const auto source = index.find({one.from.pe, one.from.track, one.from.event});
    const auto target = index.find({one.to.pe, one.to.track, one.to.event});
    if (source != index.end() && target != index.end()) arrows.push_back({source->second, target->second});
  }
  const ordered_json job = of.pes.empty() ? std::string() : of.pes.front().job;
  return fmt::format(R"({{"job": {}, "from_ns": {}, "to_ns": {}, "events": [{}], "arrows": {}}})",
                     job.dump(-1, ' ', false, ordered_json::error_handler_t::replace), begin, end, events,
                     arrows.dump());
}

}  // namespace pgas_trace
