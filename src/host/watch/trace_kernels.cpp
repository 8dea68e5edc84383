#include "host/watch/trace_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "common/trace/recorder.hpp"
#include "host/error/device_failure.hpp"

namespace pgas::detail {

namespace {

trace::event_kind kind_of(operation what) {
  using recorded = trace::event_kind;
  switch (what) {
    case operation::put:
    case operation::p:
    case operation::iput: return recorded::put;
    case operation::get:
    case operation::g:
    case operation::iget: return recorded::get;
    case operation::put_signal:
    case operation::signal: return recorded::signal;
    case operation::wait: return recorded::wait;
    default: break;
  }
  if (what >= operation::atomic_fetch) return recorded::atomic;
  if ((what >= operation::broadcast && what <= operation::scan) || what == operation::barrier ||
      what == operation::sync)
    return recorded::collective;
  return recorded::call;
}

trace::event event_of(const traced_event& from, const std::function<bool(int pe)>& direct) {
  trace::event result;
  result.name = name_of(from.what);
  trace::event_facts& facts = result.facts;
  facts.begin = static_cast<std::int64_t>(from.begin);
  facts.end = static_cast<std::int64_t>(from.end);
  facts.bytes = from.bytes;
  facts.kind = kind_of(from.what);
  facts.by = trace::caller::kernel;
  facts.peer = from.pe;
  if (from.pe >= 0) facts.route = direct(from.pe) ? trace::route::direct : trace::route::proxied;
  if (from.offset == trace_area::no_word) return result;
  facts.offset = from.offset;
  facts.value = from.value;
  facts.seen = from.seen;
  facts.compare = static_cast<std::int8_t>(from.compare);
  facts.update = static_cast<trace::update>(from.update);
  return result;
}

}  // namespace

kernel_recording::kernel_recording(device& on, std::uint32_t every) : device_(on), memory_(on, sizeof(trace_area)) {
  on.copy(&area()->every, &every, sizeof every, nullptr);
  on.synchronize(nullptr);
}

void kernel_recording::compare_clock() {
  const std::vector<clock_reading> readings = device_.read_clock();
  if (!readings.empty()) (begin_ ? end_ : begin_) = difference(readings);
}

clock_mapping kernel_recording::clock() const noexcept {
  if (!begin_) return {};
  return end_ ? clock_mapping(*begin_, *end_) : clock_mapping(*begin_, trace::now_ns() - begin_->middle());
}

kernel_tracks kernel_recording::take(const std::function<bool(int pe)>& direct) {
  const clock_mapping to_host = clock();
  std::vector<trace_area::head> heads(trace_area::rings);
  device_.copy(heads.data(), area()->heads, sizeof(trace_area::heads), nullptr);
  device_.synchronize(nullptr);
  std::map<std::pair<std::uint32_t, std::uint32_t>, trace::track> by_thread;
  kernel_tracks result;
  std::vector<traced_event> events(trace_area::ring_events);
  for (std::uint32_t ring = 0; ring < trace_area::rings; ++ring) {
    const std::uint64_t end = heads[ring].next;
    if (end == 0) continue;
    const std::uint64_t kept = std::min<std::uint64_t>(end, trace_area::ring_events);
    device_.copy(events.data(), area()->events[ring], kept * sizeof(traced_event), nullptr);
    device_.synchronize(nullptr);
    result.lost += end - kept;
    for (std::uint64_t number = end - kept; number < end; ++number) {
      const traced_event& item = events[number % trace_area::ring_events];
      if (item.number != number + 1) {
        ++result.lost;  // the thread did not finish the record, or the ring was overwritten completely
        continue;
      }
      trace::track& track = by_thread[{item.block, item.thread}];
      if (track.name.empty()) track.name = fmt::format("kernels, block {} thread {}", item.block, item.thread);
      trace::event& event = track.events.emplace_back(event_of(item, direct));
      event.facts.begin = to_host.mapped(event.facts.begin);
      event.facts.end = to_host.mapped(event.facts.end);
    }
  }
  for (auto& [place, track] : by_thread) result.tracks.push_back(std::move(track));
  return result;
}

}  // namespace pgas::detail
