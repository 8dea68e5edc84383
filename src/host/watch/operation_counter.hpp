/// @file
/// Counts the operations of host threads and streams, by target, for world::stats().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pgas/world_stats.hpp"

namespace pgas::detail {

/// Uses one cache line for each target PE and kind of caller, so that threads with different target PEs do not share
/// cache lines. *Callers* any thread.
class operation_counter {
 public:
  enum class caller : std::uint8_t { host, stream };
  enum class kind : std::uint8_t { put, get, atomic, signal };

  explicit operation_counter(int n_pes) : lines_(static_cast<std::size_t>(n_pes) * 2) {}

  /// @param bytes the size of the data; 0 for atomic operations and signals
  void add(int pe, caller by, kind what, std::uint64_t bytes) noexcept {
    line& to = lines_[index(pe, by)];
    const auto at = static_cast<std::size_t>(what);
    to.operations[at].fetch_add(1, std::memory_order_relaxed);
    if (bytes != 0) to.bytes[at].fetch_add(bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] operation_counts counts_of(int pe, caller by) const noexcept {
    const line& from = lines_[index(pe, by)];
    const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    return {read(from.operations[0]), read(from.bytes[0]),      read(from.operations[1]),
            read(from.bytes[1]),      read(from.operations[2]), read(from.operations[3])};
  }

 private:
  struct alignas(64) line {
    std::atomic<std::uint64_t> operations[4]{};
    std::atomic<std::uint64_t> bytes[2]{};
  };
  [[nodiscard]] static std::size_t index(int pe, caller by) noexcept {
    return static_cast<std::size_t>(pe) * 2 + static_cast<std::size_t>(by);
  }

  std::vector<line> lines_;
};

}  // namespace pgas::detail
