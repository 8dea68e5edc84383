#include "host/watch/collect_stats.hpp"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/exchange/control_plane.hpp"
#include "host/heap/heap.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "host/watch/calls_in_progress.hpp"
#include "host/watch/operation_counter.hpp"
#include "pgas/version.h"

namespace pgas::detail {

namespace {

operation_counts counts_of(const command_counts& from) {
  return {from.puts, from.put_bytes, from.gets, from.get_bytes, from.atomics, from.signals};
}

proxy_stats stats_of(const proxy_statistics& from) {
  return {from.commands,    from.messages,       from.message_bytes, from.acknowledgements,
          from.message_ops, from.early_messages, from.chunks,        from.chunk_bytes};
}

std::vector<call_stats> stats_of(const calls_in_progress& calls) {
  std::vector<call_stats> found;
  for (const calls_in_progress::total& total : calls.totals())
    found.push_back({std::string(total.name), total.calls, total.time, {}});
  for (const calls_in_progress::call& call : calls.now()) {
    auto entry = std::ranges::find(found, call.name, &call_stats::name);
    if (entry == found.end()) entry = found.insert(entry, {call.name, 0, {}, {}});
    entry->running = std::max<std::chrono::nanoseconds>(entry->running, call.lasted);
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

using json = nlohmann::ordered_json;

json json_of(const operation_counts& counts) {
  return {{"puts", counts.puts},           {"put_bytes", counts.put_bytes}, {"gets", counts.gets},
          {"get_bytes", counts.get_bytes}, {"atomics", counts.atomics},     {"signals", counts.signals}};
}

json row_of(const operation_counts& counts) {
  return {counts.puts, counts.put_bytes, counts.gets, counts.get_bytes, counts.atomics, counts.signals};
}

bool is_idle(const operation_counts& counts) {
  return counts.puts + counts.gets + counts.atomics + counts.signals == 0;
}

long ms_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// The fields that the answers to the questions `stats` and `metrics` have in common.
json common_fields(const world_stats& stats) {
  return {{"heap",
           {{"reserved", stats.heap_reserved},
            {"limit", stats.heap.limit},
            {"mapped", stats.heap.mapped},
            {"used", stats.heap.used},
            {"largest_free", stats.heap.largest_free},
            {"allocations", stats.heap.allocations}}},
          {"fragmentation", stats.fragmentation()},
          {"heartbeats_sent", stats.heartbeats_sent},
          {"heartbeats_received", stats.heartbeats_received},
          {"idle_ms", stats.idle.count()},
          {"errors", stats.errors},
          {"warnings", stats.warnings},
          {"failed", stats.failed}};
}

/// The fields of an object, without the braces.
std::string fields_of(const json& object) {
  const std::string text = object.dump(-1, ' ', true, json::error_handler_t::replace);  // a name can be invalid UTF-8
  return text.substr(1, text.size() - 2);
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
  last_.peers.resize(static_cast<std::size_t>(from.control_plane.n_pes()));
  for (int pe = 0; pe < from.control_plane.n_pes(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    peer_stats& peer = last_.peers[index];
    peer.direct = from.heap.domains().direct(pe);
    peer.host = from.operations.counts_of(pe, caller::host);
    peer.streams = from.operations.counts_of(pe, caller::stream);
    if (proxy != nullptr) peer.proxy = counts_of(proxy->commands_to(pe));
    peer.silence = control.silence[index].value_or(std::chrono::milliseconds(-1));
  }
  if (proxy != nullptr) last_.proxy = stats_of(proxy->statistics());
  last_.calls = stats_of(from.calls);
  // An allocation can hold this lock while it waits for other PEs, so this call does not wait for the lock.
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

std::string stats_report::summary() {
  const std::lock_guard lock(mutex_);
  return from_ ? stats_summary(collect_locked()) : R"("leaving":true)";
}

std::string stats_report::answer() {
  const std::lock_guard lock(mutex_);
  if (!from_) return R"("leaving":true)";
  const world_stats now = collect_locked();
  return stats_answer(now, from_->here, from_->control_plane.n_pes());
}

void stats_report::end() noexcept {
  const std::lock_guard lock(mutex_);
  from_.reset();
}

std::string stats_summary(const world_stats& stats) {
  operation_counts direct;
  operation_counts proxied;
  operation_counts proxy;
  for (const peer_stats& peer : stats.peers) {
    (peer.direct ? direct : proxied) += peer.host;
    (peer.direct ? direct : proxied) += peer.streams;
    proxy += peer.proxy;
  }
  call_stats all;
  for (const call_stats& call : stats.calls) {
    all.calls += call.calls;
    all.time += call.time;
    if (call.running <= all.running) continue;
    all.running = call.running;
    all.name = call.name;
  }
  json answer = {{"direct", json_of(direct)},       {"proxied", json_of(proxied)},
                 {"proxy", json_of(proxy)},         {"calls", all.calls},
                 {"call_ms", ms_of(all.time)},      {"running", all.name},
                 {"running_ms", ms_of(all.running)}};
  answer.update(common_fields(stats));
  return fields_of(answer);
}

std::string stats_answer(const world_stats& stats, const pe_info& here, int n_pes) {
  json peers = json::array();
  for (std::size_t pe = 0; pe < stats.peers.size(); ++pe) {
    const peer_stats& peer = stats.peers[pe];
    if (is_idle(peer.host) && is_idle(peer.streams) && is_idle(peer.proxy) && peer.silence.count() < 0) continue;
    peers.push_back(
        {pe, peer.direct, peer.silence.count(), row_of(peer.host), row_of(peer.streams), row_of(peer.proxy)});
  }
  json calls = json::array();
  for (const call_stats& call : stats.calls)
    calls.push_back({call.name, call.calls, call.time.count(), call.running.count()});
  const proxy_stats& proxy = stats.proxy;
  json answer = {{"n_pes", n_pes},
                 {"host", here.host},
                 {"pid", here.pid},
                 {"device", here.device},
                 {"version", PGAS_VERSION_TEXT},
                 {"by_call", calls},
                 {"proxy_work",
                  {proxy.commands, proxy.messages, proxy.message_bytes, proxy.acknowledgements, proxy.message_ops,
                   proxy.early_messages, proxy.chunks, proxy.chunk_bytes}},
                 {"by_peer", peers},
                 {"peers_left_out", 0}};
  answer.update(common_fields(stats));
  std::string fields = fields_of(answer);
  if (fields.size() < longest_stats_answer) return fields;
  answer["by_peer"] = json::array();
  answer["peers_left_out"] = peers.size();
  return fields_of(answer);
}

}  // namespace pgas::detail
