/// @file
/// What this PE has counted, for its own program and for PGAS_METRICS.
#pragma once

#include <mutex>
#include <string>

#include "pgas/world.hpp"
#include "pgas/world_stats.hpp"

namespace pgas::detail {

/// *Callers* any thread. None waits for other PEs, for the proxy or for a device.
class stats_report {
 public:
  /// @param of lives until end() returns; it has its heap
  explicit stats_report(world_state& of);

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
  world_state* world_;  ///< null: ended
  world_stats last_;
};

/// What a PE has counted in Prometheus' text format 0.0.4; docs/metrics.md has the names. Each sample has the label pe,
/// those about another PE the label peer too. PEs on which no operation was made have no samples of operations.
/// @param here this PE @param n_pes of the world
[[nodiscard]] std::string metrics_text(const world_stats& of, const pe_info& here, int n_pes);

}  // namespace pgas::detail
