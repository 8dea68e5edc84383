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

/// Calls `use` with the position and the facts of each event of the selected callers.
template <class Use>
void for_events(const document& trace, const std::vector<std::string>& callers, const Use& use) {
  for (std::size_t pe = 0; pe < trace.pes.size(); ++pe)
    for (std::size_t track = 0; track < trace.pes[pe].tracks.size(); ++track)
      for (std::size_t event = 0; event < trace.pes[pe].tracks[track].events.size(); ++event) {
        const event_facts& facts = trace.pes[pe].tracks[track].events[event].facts;
        const std::string by = pgas::trace::caller_words[static_cast<int>(facts.by)];
        if (callers.empty() || std::ranges::find(callers, by) != callers.end()) use(place{pe, track, event}, facts);
      }
}

/// The members that apply to the event. The names are those that ui.perfetto.dev shows.
ordered_json describe(const document& trace, const place& where) {
  const pgas::trace::event& what = at(trace, where);
  const event_facts& facts = what.facts;
  ordered_json result = {{"pe", trace.pes[where.pe].pe},
                         {"track", trace.pes[where.pe].tracks[where.track].name},
                         {"category", pgas::trace::kind_words[static_cast<int>(facts.kind)]},
                         {"name", what.name},
                         {"by", pgas::trace::caller_words[static_cast<int>(facts.by)]},
                         {"begin_ns", facts.begin},
                         {"end_ns", facts.end}};
  if (facts.route != pgas::trace::route::none)
    result["route"] = pgas::trace::route_words[static_cast<int>(facts.route)];
  if (facts.peer >= 0) result["peer"] = facts.peer;
  if (facts.bytes != 0) result["bytes"] = facts.bytes;
  if (facts.offset != pgas::trace::no_offset) result["offset"] = facts.offset;
  if (facts.update != pgas::trace::update::none)
    result["update"] = pgas::trace::update_words[static_cast<int>(facts.update)];
  if (facts.compare >= 0) result["compare"] = pgas::trace::compare_words[facts.compare];
  if (facts.update != pgas::trace::update::none || facts.compare >= 0) result["value"] = facts.value;
  if (facts.kind == pgas::trace::event_kind::wait && facts.offset != pgas::trace::no_offset)
    result["seen"] = facts.seen;
  return result;
}

}  // namespace

std::string events_json(const merged_trace& from, const selection& which) {
  constexpr double ns_per_ms = 1e6;
  const document& trace = from.all;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for_events(trace, which.callers, [&](const place&, const event_facts& facts) {
    first = std::min(first, facts.begin);
    last = std::max(last, facts.end);
  });
  if (first > last) first = last = 0;  // no event matches
  const auto begin = first + static_cast<std::int64_t>(which.from_ms * ns_per_ms);
  const double lasts = std::min(which.ms * ns_per_ms, static_cast<double>(std::max<std::int64_t>(0, last - begin)));
  const std::int64_t end = begin + static_cast<std::int64_t>(lasts);

  std::vector<place> places;
  for_events(trace, which.callers, [&](const place& where, const event_facts& facts) {
    if (facts.end >= begin && facts.begin <= end) places.push_back(where);
  });
  std::ranges::stable_sort(
      places, {}, [&](const place& slot) { return std::tuple(slot.pe, slot.track, at(trace, slot).facts.begin); });
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> index;
  std::string events;
  for (const place& slot : places) {
    events += fmt::format("{}\n{}", index.empty() ? "" : ",",
                          describe(trace, slot).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    index.emplace(std::tuple(slot.pe, slot.track, slot.event), index.size());
  }
  ordered_json arrows = ordered_json::array();
  for (const arrow& item : find_arrows(trace).all) {
    const auto source = index.find({item.from.pe, item.from.track, item.from.event});
    const auto target = index.find({item.to.pe, item.to.track, item.to.event});
    if (source != index.end() && target != index.end()) arrows.push_back({source->second, target->second});
  }
  const ordered_json job = trace.pes.empty() ? std::string() : trace.pes.front().job;
  return fmt::format(R"({{"job": {}, "from_ns": {}, "to_ns": {}, "events": [{}], "arrows": {}}})",
                     job.dump(-1, ' ', false, ordered_json::error_handler_t::replace), begin, end, events,
                     arrows.dump());
}

}  // namespace pgas_trace
