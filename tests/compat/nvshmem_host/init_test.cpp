// Initialization and finalization by all methods except MPI and OpenSHMEM, which separate programs test.
#include <dirent.h>
#include <string.h>

#include <fstream>
#include <memory>

#include "support.hpp"

namespace {

int entries(const char* directory) {
  int count = 0;
  DIR* const open = opendir(directory);
  while (readdir(open) != nullptr) ++count;
  closedir(open);
  return count;
}

TEST(NvshmemInit, nothing_works_before_it) {
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(nvshmem_malloc(8), nullptr);
  nvshmem_team_t team = 5;
  EXPECT_EQ(nvshmem_ptr(&team, 0), nullptr);
  EXPECT_EQ(nvshmem_team_sync(NVSHMEM_TEAM_WORLD), NVSHMEMX_ERROR_INTERNAL);
  EXPECT_NE(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, &team), 0);
  EXPECT_EQ(team, NVSHMEM_TEAM_INVALID);
  EXPECT_NE(nvshmemx_buffer_register(&team, sizeof team), 0);
  nvshmemx_qp_handle_t* handles = nullptr;
  EXPECT_NE(nvshmemx_qp_create(1, &handles), 0);
}

TEST(NvshmemInit, plain) {
  nvshmem_init();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_IS_INITIALIZED);
  EXPECT_LT(nvshmem_my_pe(), nvshmem_n_pes());
  EXPECT_EQ(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE), nvshmem_my_pe());
  nvshmem_barrier_all();
  nvshmem_finalize();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
  nvshmem_finalize();  // this is one call more than the number of initializations
}

TEST(NvshmemInit, with_threads) {
  int provided = -1;
  EXPECT_EQ(nvshmem_init_thread(NVSHMEM_THREAD_SERIALIZED, &provided), 0);
  EXPECT_EQ(provided, NVSHMEM_THREAD_MULTIPLE);
  provided = -1;
  nvshmem_query_thread(&provided);
  EXPECT_EQ(provided, NVSHMEM_THREAD_MULTIPLE);
  nvshmem_finalize();
  EXPECT_NE(nvshmem_init_thread(17, &provided), 0);
  EXPECT_NE(nvshmem_init_thread(NVSHMEM_THREAD_SINGLE, nullptr), 0);
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
}

TEST(NvshmemInit, is_counted) {
  nvshmem_init();
  nvshmem_init();
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  EXPECT_EQ(nvshmemx_init_attr(0, &attr), 0);
  nvshmem_finalize();
  nvshmem_finalize();
  void* const memory = nvshmem_malloc(8);
  EXPECT_NE(memory, nullptr);
  nvshmem_free(memory);
  nvshmem_finalize();
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
}

TEST(NvshmemInit, by_attributes_without_flags_is_the_launchers) {
  EXPECT_EQ(nvshmemx_init_attr(0, nullptr), 0);
  nvshmem_finalize();
  EXPECT_EQ(nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_THREAD_PES, nullptr), 0);
  nvshmemx_hostlib_finalize();
}

TEST(NvshmemInit, impossible_attributes) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM | NVSHMEMX_INIT_WITH_UNIQUEID, &attr),
            NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_init_attr(1u << 20, &attr), NVSHMEMX_ERROR_INVALID_VALUE);
  int comm = 0;
  EXPECT_EQ(nvshmemx_set_attr_mpi_comm_args(&comm, &attr), 0);
  // no MPI library is loaded
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr), NVSHMEMX_ERROR_INTERNAL);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr), NVSHMEMX_ERROR_INTERNAL);
  EXPECT_EQ(nvshmemx_set_attr_mpi_comm_args(nullptr, &attr), NVSHMEMX_ERROR_INVALID_VALUE);

  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  EXPECT_EQ(nvshmemx_set_attr_uniqueid_args(0, 1, nullptr, &attr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_get_uniqueid(nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_set_attr_uniqueid_args(0, 2, &id, &attr), 0);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr), NVSHMEMX_ERROR_INVALID_VALUE);  // the id is empty
  strcpy(id.internal, "pgas1-nonsense");
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr), NVSHMEMX_ERROR_INTERNAL);
  EXPECT_EQ(nvshmemx_set_attr_uniqueid_args(2, 2, &id, &attr), 0);
  EXPECT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_init_status(), NVSHMEM_STATUS_NOT_INITIALIZED);
}

// Returns a unique id that PE 0 has made. PE 0 sends the id to all PEs in a first world. The PEs leave that world
// before they use the id.
nvshmemx_uniqueid_t hand_out_id(int* me, int* n) {
  nvshmem_init();
  *me = nvshmem_my_pe();
  *n = nvshmem_n_pes();
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (*me == 0) {
    EXPECT_EQ(nvshmemx_get_uniqueid(&id), 0);
    EXPECT_NE(memchr(id.internal, 0, sizeof id.internal), nullptr) << "no end";
  }
  {
    Symmetric<char> copy(sizeof id);
    if (*me == 0) nvshmem_putmem(copy, &id, sizeof id, *me);
    EXPECT_EQ(nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, copy, copy, sizeof id, 0), 0);
    nvshmem_getmem(&id, copy, sizeof id, *me);
  }
  nvshmem_finalize();
  return id;
}

TEST(NvshmemInit, with_a_unique_id_and_attributes_that_nobody_initialized) {
  int me = 0;
  int n = 0;
  nvshmemx_uniqueid_t id = hand_out_id(&me, &n);
  nvshmemx_init_attr_t attr;
  memset(&attr, 0xa5, sizeof attr);
  // The ranks are in reverse order, so that the test detects if another bootstrap assigns the ranks.
  const int rank = me == 0 ? 0 : n - me;
  EXPECT_EQ(nvshmemx_set_attr_uniqueid_args(rank, n, &id, &attr), 0);
  ASSERT_EQ(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
  EXPECT_EQ(nvshmem_my_pe(), rank);
  EXPECT_EQ(nvshmem_n_pes(), n);
  nvshmem_barrier_all();
  nvshmem_finalize();
}

TEST(NvshmemInit, leaves_nothing_behind) {
  const auto cycle = [] {
    nvshmem_init();
    static_cast<void>(nvshmem_malloc(1 << 16));
    nvshmem_team_t all = NVSHMEM_TEAM_INVALID;
    EXPECT_EQ(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, nvshmem_n_pes(), nullptr, 0, &all), 0);
    nvshmem_finalize();
  };
  cycle();
  const int descriptors = entries("/proc/self/fd");
  const int threads = entries("/proc/self/task");
  for (int i = 0; i < 5; ++i) cycle();
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) EXPECT_EQ(line.find("memfd"), line.npos) << line;
}

TEST(NvshmemInfo, says_what_it_is) {
  int major = 0;
  int minor = 0;
  int patch = -1;
  nvshmem_info_get_version(&major, &minor);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 3);
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  EXPECT_EQ(major, 3);
  EXPECT_EQ(minor, 8);
  char name[NVSHMEM_MAX_NAME_LEN];
  memset(name, 1, sizeof name);
  nvshmem_info_get_name(name);
  EXPECT_STREQ(name, NVSHMEM_VENDOR_STRING);
}

}  // namespace
