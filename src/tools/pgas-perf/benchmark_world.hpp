/// @file
/// The state of the benchmark on a PE: the world, the buffers of the rows, and the exchange of figures between PEs.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmark_list.hpp"
#include "pgas/pgas.hpp"

namespace pgas::perf {

/// *Callers* one thread. Functions are collective unless stated otherwise.
class benchmark_world {
 public:
  /// Allocates the buffers for rows of up to `max_bytes`.
  benchmark_world(class world& w, std::size_t max_bytes);

  /// Not collective.
  [[nodiscard]] class world& world() const { return world_; }

  /// Fills as many words as the point needs: job::source with new random data, job::target with different data.
  [[nodiscard]] job prepare(const point& at, int from, int to);
  /// Overwrites the target, so that the check sees only the data of the next run.
  void poison(const job& j);
  /// Begins a run: sets signals and packets to zero, then calls a barrier.
  void begin(const job& j);
  /// Waits until all PEs have called the function.
  void barrier() { world_.barrier_all(); }

  /// Returns the value of PE `pe`, on all PEs.
  [[nodiscard]] double broadcast(int pe, double mine);
  /// Returns the values of all PEs, on all PEs.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine);
  /// Returns the sum over all PEs, on all PEs.
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine);

  /// Word `i` of PE `pe`'s source. Not collective.
  [[nodiscard]] std::uint64_t source_word(int pe, std::size_t i) const;
  /// A word of this PE's heap. Not collective.
  [[nodiscard]] std::uint64_t word(const std::uint64_t* at) const;
  /// The number of words, among the `count` words of this PE at `at`, that differ from `expected(i)`. Not collective.
  template <class Expected>
  [[nodiscard]] std::uint64_t differing(const std::uint64_t* at, std::size_t count, const Expected& expected) {
    std::uint64_t wrong = 0;
    for (std::size_t done = 0; done < count; done += staged_words) {
      const std::size_t now = count - done < staged_words ? count - done : staged_words;
      get(world_, staging_.data(), at + done, now, world_.my_pe());
      for (std::size_t i = 0; i < now; ++i) wrong += staging_[i] != expected(done + i);
    }
    return wrong;
  }

 private:
  static constexpr std::size_t staged_words = 1 << 17;

  template <class Words>
  void fill(std::uint64_t* at, std::size_t count, const Words& words);

  class world& world_;
  std::uint64_t serial_ = 0;  ///< the serial number of the random data
  std::vector<std::uint64_t> staging_ = std::vector<std::uint64_t>(staged_words);
  symmetric<std::uint64_t> source_;
  symmetric<std::uint64_t> target_;
  symmetric<std::uint64_t> signals_;
  symmetric<packet_line> box_;
  symmetric<std::uint64_t> figures_;  ///< the nanoseconds of kernels, then a word for each PE
};

}  // namespace pgas::perf
