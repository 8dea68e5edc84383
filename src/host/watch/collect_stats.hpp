/// @file
/// What this PE has counted, for its own program and for PGAS_METRICS.
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

class call_list;
class control_plane;
class heap;
class operation_counter;
class proxy_thread;

/// The parts of a world that count. They outlive stats_report::end().
struct stats_sources {
  class control_plane& control_plane;
  class heap& heap;
  const proxy_thread* proxy;  ///< null where all PEs are direct peers
  call_list& calls;
  operation_counter& operations;
  log::logger& log;
  const std::vector<pe_info>& pes;
  std::mutex& collective;  ///< held while an allocation changes the heap
};

/// *Callers* any thread. None waits for other PEs, for the proxy or for a device.
class stats_report {
 public:
  explicit stats_report(const stats_sources& from);

  /// All of it; the last values of the heap while an allocation is under way. Once this has ended, what it was at the
  /// last call.
  [[nodiscard]] world_stats collect();
  /// The same as metrics_text(); nothing once this has ended.
  [[nodiscard]] std::string text();
  /// The same without the single PEs and calls, as fields of a JSON object; docs/metrics.md has their names.
  [[nodiscard]] std::string summary();
  /// Notices short calls, see call_list::look().
  void look() noexcept;
  /// The world's parts are not there any more.
  void end() noexcept;

 private:
  [[nodiscard]] world_stats collect_locked();

  std::mutex mutex_;
  std::optional<stats_sources> from_;  ///< none: ended
  world_stats last_;
};

/// What a PE has counted in Prometheus' text format 0.0.4; docs/metrics.md has the names. Each sample has the label pe,
/// those about another PE the label peer too. PEs on which no operation was made have no samples of operations.
/// @param here this PE @param n_pes of the world
[[nodiscard]] std::string metrics_text(const world_stats& of, const pe_info& here, int n_pes);

}  // namespace pgas::detail
