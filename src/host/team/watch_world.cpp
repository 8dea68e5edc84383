// The waits and the counts of a running world, for its program, for pgas-why and for monitoring systems.
#include "host/team/world_state.hpp"

namespace pgas::detail {

void world_state::begin_watch(control_block& control) {
  wait_report_ =
      std::make_shared<wait_report>(control, calls_, context_.world(), proxied_ ? &proxied_->through() : nullptr);
  stats_report_ = std::make_shared<stats_report>(*this);
  control_plane_->set_wait_source(
      {[report = wait_report_] { report->ask(); }, [report = wait_report_] { return report->answer(); },
       [report = wait_report_](std::chrono::milliseconds limit) { return report->overdue(limit); },
       [report = stats_report_] { return report->summary(); }});
  control_plane_->set_metrics_source(
      {[report = stats_report_] { return report->text(); }, [report = stats_report_] { report->look(); }});
}

void world_state::end_watch() noexcept {
  if (wait_report_) wait_report_->end();
  if (stats_report_) stats_report_->end();
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
