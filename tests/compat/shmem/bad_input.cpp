// Passes invalid arguments to functions that return a status or a pointer. The functions return nonzero or null, log no
// error, and leave the world usable. bad_calls.cpp tests functions that return no status.
#include <shmem.h>

#include <cstdint>
#include <cstdio>

namespace {

int failures = 0;
int variable[4];

void check(const char* what, bool good) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  ++failures;
}

void contexts_and_teams() {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  check("an unknown option", shmem_ctx_create(1L << 20, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  check("a context of no team", shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);

  shmem_team_t team = SHMEM_TEAM_WORLD;
  check("the team of no context", shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
  check("a team of nobody",
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 0, nullptr, 0, &team) != 0 && team == SHMEM_TEAM_INVALID);
  check("a team of too many", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1000, nullptr, 0, &team) != 0);
  check("a team of none", shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &team) != 0);
  check("a collective of no team", shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
  check("a root that is none", shmem_int_broadcast(SHMEM_TEAM_WORLD, variable, variable + 1, 1, shmem_n_pes()) != 0);
  int on_stack = 0;
  check("a source on the stack", shmem_int_sum_reduce(SHMEM_TEAM_WORLD, variable, &on_stack, 1) != 0);
  check("buffers that overlap", shmem_int_sum_reduce(SHMEM_TEAM_WORLD, variable, variable + 1, 2) != 0);
}

void memory() {
  check("more than there is", shmem_malloc(std::size_t{1} << 60) == nullptr);
  check("more than can be counted", shmem_calloc(SIZE_MAX / 2, 16) == nullptr);
  check("an alignment beyond all addresses", shmem_align(std::size_t{1} << 61, 64) == nullptr);
  int on_stack = 0;
  check("another size of what was not allocated", shmem_realloc(&on_stack, 64) == nullptr);
  check("where the stack is", shmem_ptr(&on_stack, 0) == nullptr && shmem_ptr(variable, shmem_n_pes()) == nullptr);
  auto* const freed = static_cast<int*>(shmem_malloc(4096));
  shmem_free(freed);
  check("memory after all that", shmem_malloc(64) != nullptr);
}

}  // namespace

int main() {
  check("memory before init", shmem_malloc(8) == nullptr);
  shmem_finalize();  // without an initialization
  shmem_init();
  contexts_and_teams();
  memory();
  shmem_barrier_all();
  shmem_int_p(variable, 3, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  check("the world still works", variable[0] == 3);
  shmem_barrier_all();
  shmem_finalize();
  shmem_finalize();  // this is one call more than the number of initializations
  check("memory after finalize", shmem_malloc(8) == nullptr);
  return failures;
}
