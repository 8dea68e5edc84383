#include "host/team/stats_report.hpp"

#include <utility>

#include "host/team/world_state.hpp"

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

}  // namespace

stats_report::stats_report(world_state& of) : world_(&of) {
  last_.heap = of.heap().usage();
  last_.heap_reserved = of.heap().slot_bytes();
  last_.pe = of.control_plane().my_pe();
}

world_stats stats_report::collect() {
  const std::lock_guard lock(mutex_);
  return collect_locked();
}

world_stats stats_report::collect_locked() {
  if (world_ == nullptr) return last_;
  world_state& of = *world_;
  using caller = operation_counter::caller;
  const control_statistics control = of.control_plane().statistics();
  const proxy_thread* const proxy = of.proxy();
  last_.peers.resize(of.pes().size());
  for (int pe = 0; pe < of.control_plane().n_pes(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    peer_stats& one = last_.peers[index];
    one.direct = of.domains().direct(pe);
    one.host = of.operations().of(pe, caller::host);
    one.streams = of.operations().of(pe, caller::stream);
    if (proxy != nullptr) one.proxy = counts_of(proxy->commands_to(pe));
    one.silence = control.silence[index].value_or(std::chrono::milliseconds(-1));
  }
  if (proxy != nullptr) last_.proxy = stats_of(proxy->statistics());
  last_.calls = stats_of(of.calls());
  // Who allocates may hold the lock for as long as other PEs make it wait. It is not waited for, whatever is held here.
  if (const std::unique_lock heap(of.collective_mutex(), std::try_to_lock); heap) last_.heap = of.heap().usage();
  last_.heartbeats_sent = control.heartbeats_sent;
  last_.heartbeats_received = control.heartbeats_received;
  of.calls().look();
  last_.idle = of.calls().idle_with_short_calls();
  last_.errors = of.log().count(log_level::error);
  last_.warnings = of.log().count(log_level::warn);
  last_.failed = of.control_plane().failed();
  return last_;
}

std::string stats_report::text() {
  const std::lock_guard lock(mutex_);
  if (world_ == nullptr) return {};
  const world_stats now = collect_locked();
  return metrics_text(now, world_->pes()[static_cast<std::size_t>(now.pe)], world_->control_plane().n_pes());
}

void stats_report::look() noexcept {
  const std::lock_guard lock(mutex_);
  if (world_ != nullptr) world_->calls().look();
}

void stats_report::end() noexcept {
  const std::lock_guard lock(mutex_);
  world_ = nullptr;
}

}  // namespace pgas::detail
