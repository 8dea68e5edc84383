/// @file
/// One PE's part in the benchmark: its world, the memory that rows work on, and how PEs agree on figures.
#pragma once

#include <cstdint>
#include <vector>

#include "job.hpp"
#include "pgas/pgas.hpp"

namespace pgas::perf {

/// *Callers* one thread; functions are collective unless they say otherwise.
class session {
 public:
  /// Allocates for rows of up to `most_bytes`.
  session(world& w, std::size_t most_bytes);

  /// Not collective.
  [[nodiscard]] world& of() const { return world_; }

  /// New random data in job::source, something else in job::target: for what the point needs.
  [[nodiscard]] job prepare(const point& at, int from, int to);
  /// Overwrites the target, so that the next run has to bring everything again.
  void poison(const job& j);
  /// What every run begins with: signals zero, all PEs there.
  void begin(const job& j);
  /// Returns when all PEs have called it.
  void meet() { world_.barrier_all(); }

  /// PE `pe`'s value, on all PEs.
  [[nodiscard]] double of_pe(int pe, double mine);
  /// The sum over all PEs, on all of them.
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine);

  /// What PE `pe` has in its source at word `i`. Not collective.
  [[nodiscard]] std::uint64_t source_word(int pe, std::size_t i) const;
  /// A word of this PE's heap. Not collective.
  [[nodiscard]] std::uint64_t word(const std::uint64_t* at) const;
  /// How many of `count` words of this PE are not what `expected(i)` says. Not collective.
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

  world& world_;
  std::uint64_t serial_ = 0;  ///< of the random data
  std::vector<std::uint64_t> staging_ = std::vector<std::uint64_t>(staged_words);
  symmetric<std::uint64_t> source_;
  symmetric<std::uint64_t> target_;
  symmetric<std::uint64_t> signals_;
  symmetric<packet_line> box_;
  symmetric<std::uint64_t> said_;  ///< nanoseconds of kernels, then a word for each PE
};

}  // namespace pgas::perf
