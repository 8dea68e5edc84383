// The waits and the counts of a running world, for its program, for pgas-why and for monitoring systems; its time line.
#include "host/team/team_state.hpp"
#include "host/watch/find_root.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

void world_state::begin_watch(control_block& control) {
  wait_report_ =
      std::make_shared<wait_report>(control, calls_, teams_, *enqueued_, proxied_ ? &proxied_->through() : nullptr,
                                    [this](std::uint64_t offset) { return heap_->memory().list().around(offset); });
  stats_report_ = std::make_shared<stats_report>(
      stats_sources{*control_plane_, *heap_, proxy(), calls_, *operations_, log_, pes_, collective_});
  control_plane_->set_wait_source(
      {[report = wait_report_] { report->ask(); }, [report = wait_report_] { return report->settled(); },
       [report = wait_report_] { return report->answer(); },
       [report = wait_report_](std::chrono::milliseconds limit) { return report->overdue(limit); },
       [report = stats_report_] { return report->summary(); }, [report = wait_report_] { return report->sentences(); },
       [me = control_plane_->my_pe()](std::string_view introduction, const std::vector<std::string>& answers) {
         return told::root_of(me, introduction, answers);
       }});
  control_plane_->set_metrics_source(
      {[report = stats_report_] { return report->text(); }, [report = stats_report_] { report->look(); }});
}

void world_state::end_watch() noexcept {
  if (wait_report_) wait_report_->end();
  if (stats_report_) stats_report_->end();
}

void world_state::compare_clocks_for_trace() {
  if (heap_->parameters().traced == 0) return;
  const clock_comparison clocks = compare_clocks(*control_plane_);
  if (trace_) trace_->compared(clocks);
}

void world_state::make_room_for_traced_kernels() {
  if (!trace_) return;
  const trace_area* const kernels = trace_->make_area(*device_, static_cast<std::uint32_t>(settings_.trace_sample));
  device_->copy(heap_->slot(control_plane_->my_pe()) + internal_area::traced, &kernels, sizeof kernels, nullptr);
  device_->synchronize(nullptr);
}

void world_state::write_trace() noexcept {
  if (!trace_ || !control_plane_ || forked()) return;
  trace_->write(
      control_plane_->peer(control_plane_->my_pe()), [this](int pe) { return domains().direct(pe); }, log_);
}

host_call::host_call(team_state& of, const char* name, std::optional<stream_handle> on) noexcept
    : host_call(of.world(), name) {
  trace::event_facts* const facts = profiled.traced.facts();
  if (facts == nullptr) return;
  facts->kind = trace::event_kind::collective;
  facts->team = of.group().id();
  facts->number = of.next_traced();
  if (!on) return;
  facts->by = trace::caller::stream;
  facts->stream = reinterpret_cast<std::uintptr_t>(*on);
}

pe_waits world_state::waits() const {
  check_process();
  if (left_) throw error(code::not_joined, "the world has been left: nothing in it waits any more");
  return wait_report_->ask_and_collect();
}

world_stats world_state::stats() const {
  check_process();
  if (left_) throw error(code::not_joined, "the world has been left: ask before that");
  return stats_report_->collect();
}

}  // namespace pgas::detail
