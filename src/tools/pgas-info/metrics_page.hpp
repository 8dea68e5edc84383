/// @file
/// The statistics of the PEs of a host in the text format of Prometheus (0.0.4).
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pgas/world_stats.hpp"

namespace pgas_info {

/// A PE's answer to the question `metrics`.
struct pe_statistics {
  std::string host;
  std::string device;
  std::string version;  ///< the version of the library
  pid_t pid = 0;
  int pes = 0;                                          ///< the number of PEs of the world
  pgas::world_stats stats;                              ///< without `peers`
  std::vector<std::pair<int, pgas::peer_stats>> peers;  ///< peers with operations, and peers on other hosts
  std::size_t peers_left_out = 0;                       ///< the number of peers that did not fit into the answer
};

/// A PE of this host.
struct local_pe {
  std::string world;  ///< the name of the job
  int pe = 0;
  std::optional<pe_statistics> says;  ///< empty if the PE did not answer, is joining or is leaving
};

/// Empty if a field is missing or has another type, for example in the answer of another version of the library.
[[nodiscard]] std::optional<pe_statistics> read_statistics(const nlohmann::ordered_json& answer);

/// The page. Each sample of a PE has the labels `world` and `pe`. docs/metrics.md lists the names.
[[nodiscard]] std::string metrics_page(const std::vector<local_pe>& pes);

/// Asks the PEs of this user on this host for their statistics.
class metrics_collector {
 public:
  /// @param directory PGAS_SOCKET_DIR; empty: none
  explicit metrics_collector(std::string directory) : directory_(std::move(directory)) {}

  /// Returns the page. Takes at most 1.2 s if a PE does not answer.
  [[nodiscard]] std::string collect();

 private:
  std::string directory_;
  std::set<std::pair<std::string, int>> owned_;  ///< PEs that were known to belong to this user
};

}  // namespace pgas_info
