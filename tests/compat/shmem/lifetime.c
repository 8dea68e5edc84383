/* Consecutive and nested initializations leave no descriptors, mappings or threads. */
#include <dirent.h>

#include "check.h"

static int entries(const char* folder) {
  int found = 0;
  DIR* const opened = opendir(folder);
  if (opened == NULL) return -1;
  while (readdir(opened) != NULL) ++found;
  closedir(opened);
  return found;
}

static int mappings(void) {
  int found = 0, c;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && (c = fgetc(maps)) != EOF) found += c == '\n';
  if (maps != NULL) fclose(maps);
  return found;
}

static int variable;

static void once(void) {
  shmem_team_t team;
  shmem_ctx_t ctx;
  static long sync_array[SHMEM_SYNC_SIZE];
  int n, provided;
  void* memory;
  shmem_init();
  shmem_init_thread(SHMEM_THREAD_SINGLE, &provided); /* counted */
  n = shmem_n_pes();
  shmem_int_atomic_inc(&variable, 0);
  memory = shmem_malloc(1 << 20);
  CHECK(memory != NULL);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
  shmem_ctx_create(0, &ctx);
  if (shmem_my_pe() < (n + 1) / 2) shmem_barrier(0, 0, (n + 1) / 2, sync_array);
  shmem_finalize();
  CHECK(shmem_n_pes() == n); /* the second init has not been finalized */
  shmem_barrier_all();
  shmem_finalize();
}

int main(void) {
  int i, files, threads, maps;
  for (i = 0; i < 2; ++i) once();
  files = entries("/proc/self/fd");
  threads = entries("/proc/self/task");
  maps = mappings();
  for (i = 0; i < 5; ++i) once();
  CHECK(entries("/proc/self/fd") == files);
  CHECK(entries("/proc/self/task") == threads && threads == 3); /* ".", ".." and this one */
  CHECK(mappings() <= maps + 2);
  return failures;
}
