// Regions of blocks: the functions of kernels, by blocks on the CPU.
#include "pgas/compat/nvshmem/block_region.h"

#include <gtest/gtest.h>
#include <nvshmem.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "pgas/launch.hpp"
#include "pgas/world.hpp"

namespace {

nvshmemx_region_attrs_t batch() {
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  attrs.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
  return attrs;
}

struct outcome {
  int first = -1, second = -1, inside = -1, other_hints = -1, stale = -1, stop = -1, again = -1, outside = -1;
  nvshmemx_region_handle_t handle = 0;
};

/// Each block starts a region, fails to start a second, and stops it.
struct start_and_stop {
  template <class Block>
  void operator()(Block block, pgas::detail::block_table* table, outcome* all, int threads) const {
    using namespace pgas::compat;
    outcome& mine = all[block.block_rank() * static_cast<std::uint32_t>(threads) + block.thread_rank()];
    const nvshmemx_region_attrs_t attrs = batch();
    const bool even = block.block_rank() % 2 == 0;
    nvshmemx_region_handle_t second = 0;
    mine.first = start_region(table, block, &mine.handle, even ? &attrs : nullptr);
    mine.second = start_region(table, block, &second, &attrs);
    EXPECT_EQ(is_region_active(table, 0, &mine.inside), NVSHMEMX_SUCCESS);
    EXPECT_EQ(is_region_active(table, NVSHMEMX_REGION_HINT_BATCH_RMA, &mine.other_hints), NVSHMEMX_SUCCESS);
    mine.stale = stop_region(table, block, mine.handle + 1'000'000);
    mine.stop = stop_region(table, block, mine.handle);
    mine.again = stop_region(table, block, mine.handle);
    EXPECT_EQ(is_region_active(table, 0, &mine.outside), NVSHMEMX_SUCCESS);
  }
};

void run_blocks(pgas::world& w, unsigned blocks, unsigned threads, pgas::detail::block_table* table,
                std::vector<outcome>& all) {
  pgas::launch(w, {.blocks = blocks, .threads = threads}, start_and_stop{}, table, all.data(),
               static_cast<int>(threads));
  w.synchronize();
}

TEST(NvshmemBlockRegion, is_of_one_block) {
  const auto table = std::make_unique<pgas::detail::block_table>();
  for (const unsigned threads : {1u, 4u}) {
    setenv("PGAS_HOST_BLOCK_THREADS", std::to_string(threads).c_str(), 1);
    pgas::world w = pgas::world::join();
    std::vector<outcome> all(8 * threads);
    run_blocks(w, 8, threads, table.get(), all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t block = i / threads;
      EXPECT_EQ(all[i].first, NVSHMEMX_SUCCESS);
      EXPECT_EQ(all[i].handle, all[block * threads].handle) << "all threads get it";
      EXPECT_EQ(all[i].second, NVSHMEMX_ERROR_INVALID_VALUE);
      EXPECT_EQ(all[i].inside, 1);
      EXPECT_EQ(all[i].other_hints, block % 2 == 0 ? 1 : 0);
      EXPECT_EQ(all[i].stale, NVSHMEMX_ERROR_INVALID_VALUE);
      EXPECT_EQ(all[i].stop, NVSHMEMX_SUCCESS);
      EXPECT_EQ(all[i].again, NVSHMEMX_ERROR_INVALID_VALUE);
      EXPECT_EQ(all[i].outside, 0);
      for (std::size_t other = 0; other < block; ++other) EXPECT_NE(all[i].handle, all[other * threads].handle);
    }
    for (const pgas::detail::block_entry& entry : table->at) EXPECT_EQ(entry.key, 0u) << "an entry is left";
  }
}

TEST(NvshmemBlockRegion, is_refused_where_the_table_is_full) {
  pgas::world w = pgas::world::join();
  const auto table = std::make_unique<pgas::detail::block_table>();
  for (pgas::detail::block_entry& entry : table->at) entry.key = ~std::uint64_t{0};
  std::vector<outcome> all(2);
  run_blocks(w, 2, 1, table.get(), all);
  for (const outcome& one : all) {
    EXPECT_EQ(one.first, NVSHMEMX_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(one.inside, 0);
    EXPECT_EQ(one.stop, NVSHMEMX_ERROR_INVALID_VALUE);
  }
  run_blocks(w, 2, 1, nullptr, all);
  for (const outcome& one : all) EXPECT_EQ(one.first, NVSHMEMX_ERROR_OUT_OF_MEMORY);
}

}  // namespace
