/// @file
/// Contributions to collectives as they come in, sorted by collective and by PE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "host/world/links.hpp"
#include "host/world/packet.hpp"

namespace pgas::detail {

/// Keeps the pieces of the collectives that are under way. PEs call them in the same order, so a number identifies one;
/// a PE may be ahead of another by as many as are kept. Not thread-safe.
class rounds {
 public:
  explicit rounds(int n_pes) : n_pes_(n_pes) {}

  /// *Errors* bootstrap_protocol for a piece that is a duplicate, long past or too far ahead.
  void add(std::uint64_t sequence, int pe, collective call, contribution piece);
  [[nodiscard]] bool complete(std::uint64_t sequence) const;
  /// A PE that takes part in round `sequence` with another call than `call`, and that call.
  struct mismatch {
    int pe;
    collective call;
  };
  [[nodiscard]] std::optional<mismatch> find_mismatch(std::uint64_t sequence, collective call) const;
  /// Whether every PE has called leave() as its round `sequence`.
  [[nodiscard]] bool all_leave(std::uint64_t sequence) const;
  [[nodiscard]] std::vector<int> missing(std::uint64_t sequence) const;
  /// Takes a complete round out, and forgets it.
  [[nodiscard]] std::vector<contribution> take(std::uint64_t sequence);

 private:
  struct piece {
    collective call = collective::none;
    contribution content;
  };
  struct round {
    std::vector<piece> pieces;  ///< by PE; collective::none: not there yet
    int arrived = 0;
  };
  static constexpr std::uint64_t max_ahead = 8;

  int n_pes_;
  std::uint64_t first_ = 0;  ///< rounds before this one are over
  std::map<std::uint64_t, round> rounds_;
};

}  // namespace pgas::detail
