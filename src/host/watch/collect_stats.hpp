/// @file
/// The counters of this PE, for its own program and for pgas-info.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pgas/world.hpp"
#include "pgas/world_stats.hpp"

namespace pgas::log {
class logger;
}

namespace pgas::detail {

class calls_in_progress;
class control_plane;
class heap;
class operation_counter;
class proxy_thread;

/// The parts of a world that have counters. These parts must exist until stats_report::end() returns.
struct stats_sources {
  class control_plane& control_plane;
  class heap& heap;
  const proxy_thread* proxy;  ///< null if all PEs are direct peers
  calls_in_progress& calls;
  operation_counter& operations;
  log::logger& log;
  const pe_info& here;
  std::mutex& collective;  ///< an allocation holds this lock while it changes the heap
};

/// *Callers* any thread. No function waits for other PEs, for the proxy or for a device.
class stats_report {
 public:
  explicit stats_report(const stats_sources& from);

  /// All counters. While an allocation is in progress, the values of the heap are the last known ones. After end(), the
  /// result of the last call.
  [[nodiscard]] world_stats collect();
  /// The answers to the questions `stats` and `metrics`, made by stats_summary() and stats_answer(). Fields of a JSON
  /// object.
  [[nodiscard]] std::string summary();
  [[nodiscard]] std::string answer();
  /// Called before the parts of the world are destroyed.
  void end() noexcept;

 private:
  [[nodiscard]] world_stats collect_locked();

  std::mutex mutex_;
  std::optional<stats_sources> from_;  ///< empty after end()
  world_stats last_;
};

/// The statistics without the numbers of single PEs and calls, as fields of a JSON object. docs/metrics.md lists the
/// names.
[[nodiscard]] std::string stats_summary(const world_stats& stats);

/// If the answer would be longer, it is sent without peers, because a packet of a UNIX socket holds at most about 200
/// KiB.
inline constexpr std::size_t longest_stats_answer = std::size_t{128} << 10;
/// The statistics by peer and call, as fields of a JSON object. Only pgas-info reads them, so rows are lists without
/// names.
/// @param here this PE
/// @param n_pes the number of PEs of the world
[[nodiscard]] std::string stats_answer(const world_stats& stats, const pe_info& here, int n_pes);

}  // namespace pgas::detail
