#include "host/watch/collect_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "host/control/control_plane.hpp"
#include "host/heap/heap.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/watch/call_list.hpp"
#include "host/watch/operation_counter.hpp"

namespace pgas::detail {

namespace {

operation_counts counts_of(const command_counts& from) {
  return {from.puts, from.put_bytes, from.gets, from.get_bytes, from.atomics, from.signals};
}

proxy_stats stats_of(const proxy_statistics& from) {
  return {from.commands,    from.messages,       from.message_bytes, from.acknowledgements,
          from.message_ops, from.early_messages, from.chunks,        from.chunk_bytes};
}

std::vector<call_stats> stats_of(const call_list& calls) {
  std::vector<call_stats> found;
  for (const call_list::total& one : calls.totals()) found.push_back({std::string(one.name), one.calls, one.time, {}});
  for (const call_list::call& one : calls.now()) {
    auto of = std::ranges::find(found, one.name, &call_stats::name);
    if (of == found.end()) of = found.insert(of, {one.name, 0, {}, {}});
    of->running = std::max<std::chrono::nanoseconds>(of->running, one.lasted);
  }
  return found;
}

operation_counts& operator+=(operation_counts& to, const operation_counts& more) {
  to.puts += more.puts;
  to.put_bytes += more.put_bytes;
  to.gets += more.gets;
  to.get_bytes += more.get_bytes;
  to.atomics += more.atomics;
  to.signals += more.signals;
  return to;
}

std::string json_of(const operation_counts& of) {
  return fmt::format(R"({{"puts":{},"put_bytes":{},"gets":{},"get_bytes":{},"atomics":{},"signals":{}}})", of.puts,
                     of.put_bytes, of.gets, of.get_bytes, of.atomics, of.signals);
}

long ms_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

stats_report::stats_report(const stats_sources& from) : from_(from) {
  last_.heap = from.heap.usage();
  last_.heap_reserved = from.heap.slot_bytes();
  last_.pe = from.control_plane.my_pe();
}

world_stats stats_report::collect() {
  const std::lock_guard lock(mutex_);
  return collect_locked();
}

world_stats stats_report::collect_locked() {
  if (!from_) return last_;
  const stats_sources& from = *from_;
  using caller = operation_counter::caller;
  const control_statistics control = from.control_plane.statistics();
  const proxy_thread* const proxy = from.proxy;
  last_.peers.resize(from.pes.size());
  for (int pe = 0; pe < from.control_plane.n_pes(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    peer_stats& one = last_.peers[index];
    one.direct = from.heap.domains().direct(pe);
    one.host = from.operations.of(pe, caller::host);
    one.streams = from.operations.of(pe, caller::stream);
    if (proxy != nullptr) one.proxy = counts_of(proxy->commands_to(pe));
    one.silence = control.silence[index].value_or(std::chrono::milliseconds(-1));
  }
  if (proxy != nullptr) last_.proxy = stats_of(proxy->statistics());
  last_.calls = stats_of(from.calls);
  // An allocation can hold this lock while it waits for other PEs, so only try_lock.
  if (const std::unique_lock heap(from.collective, std::try_to_lock); heap) last_.heap = from.heap.usage();
  last_.heartbeats_sent = control.heartbeats_sent;
  last_.heartbeats_received = control.heartbeats_received;
  from.calls.look();
  last_.idle = from.calls.idle_with_short_calls();
  last_.errors = from.log.count(log_level::error);
  last_.warnings = from.log.count(log_level::warn);
  last_.failed = from.control_plane.failed();
  return last_;
}

std::string stats_report::text() {
  const std::lock_guard lock(mutex_);
  if (!from_) return {};
  const world_stats now = collect_locked();
  return metrics_text(now, from_->pes[static_cast<std::size_t>(now.pe)], from_->control_plane.n_pes());
}

std::string stats_report::summary() {
  const std::lock_guard lock(mutex_);
  if (!from_) return R"("leaving":true)";
  const world_stats now = collect_locked();
  operation_counts direct;
  operation_counts proxied;
  operation_counts proxy;
  for (const peer_stats& one : now.peers) {
    (one.direct ? direct : proxied) += one.host;
    (one.direct ? direct : proxied) += one.streams;
    proxy += one.proxy;
  }
  call_stats all;
  for (const call_stats& one : now.calls) {
    all.calls += one.calls;
    all.time += one.time;
    if (one.running <= all.running) continue;
    all.running = one.running;
    all.name = one.name;
  }
  return fmt::format(
      R"("direct":{},"proxied":{},"proxy":{},"calls":{},"call_ms":{},"running":"{}","running_ms":{},)"
      R"("heap":{{"reserved":{},"limit":{},"mapped":{},"used":{},"largest_free":{},"allocations":{}}},)"
      R"("fragmentation":{:.4f},"heartbeats_sent":{},"heartbeats_received":{},"idle_ms":{},"errors":{},"warnings":{},)"
      R"("failed":{})",
      json_of(direct), json_of(proxied), json_of(proxy), all.calls, ms_of(all.time), all.name, ms_of(all.running),
      now.heap_reserved, now.heap.limit, now.heap.mapped, now.heap.used, now.heap.largest_free, now.heap.allocations,
      now.fragmentation(), now.heartbeats_sent, now.heartbeats_received, now.idle.count(), now.errors, now.warnings,
      now.failed);
}

void stats_report::look() noexcept {
  const std::lock_guard lock(mutex_);
  if (from_) from_->calls.look();
}

void stats_report::end() noexcept {
  const std::lock_guard lock(mutex_);
  from_.reset();
}

}  // namespace pgas::detail
