// A distributed histogram: bin b lives on PE b % n_pes, and every thread of every PE adds to any bin with a remote
// atomic that returns no value. At the end the counts of all bins must add up to the number of keys.
#include <cstdio>
#include <numeric>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct count_keys {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* bins, std::uint32_t n_bins,
                          std::uint32_t keys) const {
    const auto first = static_cast<std::uint32_t>(block.block_rank() * block.size() + block.thread_rank());
    const auto step = static_cast<std::uint32_t>(block.num_blocks() * block.size());
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    for (std::uint32_t i = first; i < keys; i += step) {
      std::uint32_t key = i * n + static_cast<std::uint32_t>(ctx.my_pe());  // a different range of keys on each PE
      key = (key ^ (key >> 16)) * 0x7feb352dU;                              // a hash scatters the keys
      const std::uint32_t bin = (key ^ (key >> 15)) % n_bins;
      pgas::atomic_inc(ctx, bins + bin / n, static_cast<int>(bin % n));
    }
    pgas::quiet(ctx, block);
  }
};

int main() try {
  constexpr std::uint32_t n_bins = 1000;
  constexpr std::uint32_t keys = 200'000;
  pgas::world world = pgas::world::join();
  const auto n = static_cast<std::uint32_t>(world.n_pes());
  auto bins = world.allocate<std::uint64_t>((n_bins + n - 1) / n, pgas::initialize::zero);

  pgas::launch(world, {.blocks = 4, .threads = 256}, count_keys{}, world.context(), bins.data(), n_bins, keys);
  world.synchronize();
  world.barrier_all();

  std::uint64_t total = 0;
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    std::vector<std::uint64_t> part(bins.size());
    pgas::get(world, part.data(), bins.data(), part.size(), pe);
    total = std::accumulate(part.begin(), part.end(), total);
  }
  const bool right = total == std::uint64_t{keys} * n;
  if (world.my_pe() == 0)
    std::printf("%u PEs counted %llu keys into %u bins: %s\n", n, static_cast<unsigned long long>(total), n_bins,
                right ? "none lost" : "WRONG");
  return right ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
