#include "host/team/trace_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "host/error/device_failure.hpp"

namespace pgas::detail {

namespace {

trace::event_kind kind_of(operation what) {
  using kind = trace::event_kind;
  switch (what) {
    case operation::put:
    case operation::p:
    case operation::iput: return kind::put;
    case operation::get:
    case operation::g:
    case operation::iget: return kind::get;
    case operation::put_signal:
    case operation::signal: return kind::signal;
    case operation::wait: return kind::wait;
    default: break;
  }
  if (what >= operation::atomic_fetch) return kind::atomic;
  if ((what >= operation::broadcast && what <= operation::scan) || what == operation::barrier ||
      what == operation::sync)
    return kind::collective;
  return kind::call;
}

trace::event event_of(const traced_event& from, const std::function<bool(int pe)>& direct) {
  trace::event made;
  made.name = name_of(from.what);
  trace::event_facts& facts = made.facts;
  facts.begin = static_cast<std::int64_t>(from.begin);
  facts.end = static_cast<std::int64_t>(from.end);
  facts.bytes = from.bytes;
  facts.kind = kind_of(from.what);
  facts.by = trace::caller::kernel;
  facts.peer = from.pe;
  if (from.pe >= 0) facts.route = direct(from.pe) ? trace::route::direct : trace::route::proxied;
  if (from.offset == trace_area::no_word) return made;
  facts.offset = from.offset;
  facts.value = from.value;
  facts.seen = from.seen;
  facts.compare = static_cast<std::int8_t>(from.compare);
  facts.update = static_cast<trace::update>(from.update);
  return made;
}

}  // namespace

kernel_tracks tracks_of(const trace_area& area, const std::function<bool(int pe)>& direct) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, trace::track> by_thread;
  kernel_tracks made;
  for (std::uint32_t ring = 0; ring < trace_area::rings; ++ring) {
    const std::uint64_t end = area.heads[ring].next;
    const std::uint64_t first = end - std::min<std::uint64_t>(end, trace_area::ring_events);
    made.lost += first;
    for (std::uint64_t number = first; number < end; ++number) {
      const traced_event& one = area.events[ring][number % trace_area::ring_events];
      if (one.number != number + 1) {
        ++made.lost;  // of a thread that did not come to its end, or was overtaken by a whole lap
        continue;
      }
      trace::track& track = by_thread[{one.block, one.thread}];
      if (track.name.empty()) track.name = fmt::format("kernels, block {} thread {}", one.block, one.thread);
      track.events.push_back(event_of(one, direct));
    }
  }
  for (auto& [place, track] : by_thread) made.tracks.push_back(std::move(track));
  return made;
}

}  // namespace pgas::detail
