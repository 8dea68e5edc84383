/// @file
/// Used by all stress tests: their duration, and blocks that keep the links busy during the tests.
#pragma once

#include <cstdio>

#include "harness.hpp"

namespace pgas_test {

/// Makes traffic until the working blocks have finished. The data of this traffic is not checked. Each block uses
/// separate memory, so there are no races.
struct background {
  static constexpr std::size_t bytes = 32'768;
  static constexpr std::uint32_t most_blocks = 16;

  sym<unsigned char> from;
  sym<unsigned char> to;
  sym<std::uint32_t> finished;  // the number of finished blocks of this PE

  explicit background(pe_set& pes)
      : from(pes.allocate<unsigned char>(bytes)),
        to(pes.allocate<unsigned char>(static_cast<std::size_t>(pes.n_pes()) * most_blocks * bytes)),
        finished(pes.allocate<std::uint32_t>(1)) {}

  /// The first `n_working` blocks of a PE call work(which). The other blocks make traffic until the first blocks have
  /// finished.
  template <class Block, class Work>
  PGAS_FN void beside(const Block& block, const context& ctx, std::uint32_t n_working, const Work& work) const {
    const auto which = static_cast<std::uint32_t>(block.block_rank());
    if (which < n_working) {
      work(which);
      if (block.thread_rank() == 0) atomic_inc(ctx, finished.at(ctx), ctx.my_pe());
    } else {
      make_traffic(block, ctx, which - n_working, n_working);
    }
  }

 private:
  template <class Block>
  PGAS_FN void make_traffic(const Block& block, const context& ctx, std::uint32_t place,
                            std::uint32_t n_working) const {
    for (std::uint32_t i = 0; g(ctx, finished.at(ctx), ctx.my_pe()) < n_working; ++i) {
      const auto pe = static_cast<std::int32_t>(mix(i, place) % static_cast<std::uint32_t>(ctx.n_pes()));
      const std::size_t at = (static_cast<std::size_t>(ctx.my_pe()) * most_blocks + place) * bytes;
      put(ctx, block, to.at(ctx) + at, from.at(ctx), bytes - i % 64, pe);
      detail::yield_waiting();
    }
  }
};

/// Runs `body`. The working blocks come first, and the background blocks follow.
/// @param n_rounds the rounds of each working block
template <class Body>
void run_stress(const char* name, pe_set& pes, const Body& body, const findings& found, std::uint64_t n_rounds) {
  const stress_shape shape;
  const auto start = std::chrono::steady_clock::now();
  pes.run({Body::working_blocks(shape) + shape.background, shape.threads}, body);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  expect_nothing_found(pes, found);
  std::printf("%s: %llu rounds between %d PEs in %.1f s\n", name,
              static_cast<unsigned long long>(n_rounds * shape.channels * static_cast<unsigned>(pes.n_pes())),
              pes.n_pes(), took.count());
}

/// The number of rounds of each channel between two PEs.
inline std::uint32_t stress_rounds(int n_pes) {
  const stress_shape shape;
  const std::uint64_t total = asked_rounds() != 0 ? asked_rounds() : shape.total;
  const std::uint64_t parts = std::uint64_t{shape.channels} * static_cast<unsigned>(n_pes);
  return static_cast<std::uint32_t>((total + parts - 1) / parts);
}

}  // namespace pgas_test
