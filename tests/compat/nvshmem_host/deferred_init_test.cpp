// Initialization before a GPU is chosen, in programs that never choose a GPU. The tests run without PGAS_HEAP.
#include "support.hpp"

namespace {

TEST(NvshmemDeferred, knows_all_pes_before_memory_exists) {
  nvshmem_init();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_IS_BOOTSTRAPPED);
  EXPECT_LT(nvshmem_my_pe(), nvshmem_n_pes());
  EXPECT_EQ(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE), nvshmem_my_pe());
  EXPECT_EQ(nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED), nvshmem_n_pes());
  int local = 0;
  EXPECT_EQ(nvshmem_ptr(&local, 0), nullptr);
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_IS_BOOTSTRAPPED);
  void* const memory = nvshmem_malloc(8);
  EXPECT_NE(memory, nullptr);
  EXPECT_GE(nvshmemx_init_status(), NVSHMEM_STATUS_IS_INITIALIZED);
  nvshmem_free(memory);
  nvshmem_finalize();
}

TEST(NvshmemDeferred, may_end_without_memory) {
  nvshmem_init();
  nvshmem_init();
  nvshmem_finalize();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_IS_BOOTSTRAPPED);
  nvshmem_finalize();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
}

TEST(NvshmemDeferred, a_barrier_goes_on_with_it) {
  nvshmem_init();
  nvshmem_barrier_all();
  EXPECT_GE(nvshmemx_init_status(), NVSHMEM_STATUS_IS_INITIALIZED);
  nvshmem_finalize();
}

}  // namespace
