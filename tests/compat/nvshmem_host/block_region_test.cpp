// Tests regions of blocks. Blocks on the CPU call the functions that kernels call.
#include "pgas/compat/nvshmem/block_region.h"

#include <gtest/gtest.h>
#include <nvshmem.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pgas/device/impl/sync/block_table.hpp"
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
  nvshmemx_region_handle_t handle = 0, next = 0;
};

/// Each block starts a region, fails to start a second region, and stops the first. The block then starts another
/// region, which ends with the block.
struct start_and_stop {
  template <class Block>
  void operator()(Block block, pgas::compat::block_region* shared, outcome* all, int threads) const {
    using namespace pgas::compat;
    outcome& mine = all[block.block_rank() * static_cast<std::uint32_t>(threads) + block.thread_rank()];
    block_region& own = shared[block.block_rank()];
    const nvshmemx_region_attrs_t attrs = batch();
    const bool even = block.block_rank() % 2 == 0;
    nvshmemx_region_handle_t second = 0;
    mine.first = start_region(own, block, &mine.handle, even ? &attrs : nullptr);
    mine.second = start_region(own, block, &second, &attrs);
    EXPECT_EQ(is_region_active(own, 0, &mine.inside), NVSHMEMX_SUCCESS);
    EXPECT_EQ(is_region_active(own, NVSHMEMX_REGION_HINT_BATCH_RMA, &mine.other_hints), NVSHMEMX_SUCCESS);
    mine.stale = stop_region(own, block, mine.handle + 1'000'000);
    mine.stop = stop_region(own, block, mine.handle);
    mine.again = stop_region(own, block, mine.handle);
    EXPECT_EQ(is_region_active(own, 0, &mine.outside), NVSHMEMX_SUCCESS);
    EXPECT_EQ(start_region(own, block, &mine.next, nullptr), NVSHMEMX_SUCCESS);
  }
};

/// The memory of the blocks contains data that other blocks or another program left.
TEST(NvshmemBlockRegion, is_of_one_block) {
  for (const unsigned threads : {1u, 4u}) {
    setenv("PGAS_HOST_BLOCK_THREADS", std::to_string(threads).c_str(), 1);
    pgas::world w = pgas::world::join();
    std::vector<pgas::compat::block_region> shared(8);
    std::memset(static_cast<void*>(shared.data()), 0x5a, shared.size() * sizeof shared[0]);
    for (int launch = 0; launch < 3; ++launch) {
      std::vector<outcome> all(8 * threads);
      pgas::launch(w, {.blocks = 8, .threads = threads}, start_and_stop{}, shared.data(), all.data(),
                   static_cast<int>(threads));
      w.synchronize();
      std::rotate(shared.begin(), shared.begin() + 1, shared.end());
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
        EXPECT_NE(all[i].next, all[i].handle);
        for (std::size_t other = 0; other < block; ++other) EXPECT_NE(all[i].handle, all[other * threads].handle);
      }
    }
  }
}

/// Blocks that end without taking back lent memory leave their entries in the table. A later block still gets an entry.
TEST(NvshmemBlockTable, is_never_used_up) {
  using pgas::detail::block_table;
  const auto table = std::make_unique<block_table>();
  const auto key_of = [](std::uint64_t launch, std::uint64_t block) { return (launch + 1) << 32 | block; };
  for (std::uint64_t launch = 0; launch < 4; ++launch)
    for (std::uint64_t block = 0; block < block_table::entries; ++block)
      EXPECT_NE(table->find_or_make(key_of(launch, block)), nullptr);
  pgas::detail::block_entry* const own = table->find_or_make(key_of(9, 3));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(table->find(key_of(9, 3)), own);
  pgas::detail::block_entry* const other = table->find_or_make(key_of(9, 3 + block_table::entries));
  EXPECT_EQ(other, own);
  block_table::drop(own, key_of(9, 3));  // the entry now belongs to the other block
  EXPECT_EQ(table->find(key_of(9, 3)), nullptr);
  EXPECT_EQ(table->find(key_of(9, 3 + block_table::entries)), other);
  block_table::drop(other, key_of(9, 3 + block_table::entries));
  EXPECT_EQ(table->find(key_of(9, 3 + block_table::entries)), nullptr);
}

}  // namespace
