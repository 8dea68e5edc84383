// What calls with bad arguments do: functions without a status throw, others return nonzero or null. Nothing of it
// harms the world.
#include <shmem.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace {

int failures = 0;
thread_local int of_thread = 0;
int variable[4];
std::uint64_t signal_word;
long lock_word;

/// Whether `call` throws an error with this code.
template <class Call>
void refuses(const char* what, const char* code, Call&& call) {
  std::string said = "nothing was thrown";
  try {
    call();
  } catch (const std::exception& refused) {
    said = refused.what();
  }
  if (said.find(code) != std::string::npos) return;
  std::fprintf(stderr, "%s: not %s, but: %s\n", what, code, said.c_str());
  ++failures;
}

void check(const char* what, bool good) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  ++failures;
}

constexpr const char* no_such_pe = "PGAS-E0301";
constexpr const char* outside = "PGAS-E0302";
constexpr const char* misaligned = "PGAS-E0303";
constexpr const char* invalid = "PGAS-E0304";
constexpr const char* not_joined = "PGAS-E0305";
constexpr const char* invalid_free = "PGAS-E0206";

void one_sided() {
  const int n = shmem_n_pes();
  int on_stack = 0;
  for (const int pe : {-1, n, n + 1000}) {
    refuses("put to no PE", no_such_pe, [&] { shmem_int_put(variable, &on_stack, 1, pe); });
    refuses("get from no PE", no_such_pe, [&] { shmem_int_get(&on_stack, variable, 1, pe); });
    refuses("p to no PE", no_such_pe, [&] { shmem_int_p(variable, 1, pe); });
    refuses("atomic at no PE", no_such_pe, [&] { shmem_int_atomic_inc(variable, pe); });
    refuses("signal to no PE", no_such_pe, [&] { shmem_signal_set(&signal_word, 1, pe); });
    refuses("quiet of no PE", no_such_pe, [&] { shmem_pe_quiet(&pe, 1); });
  }
  refuses("put to the stack", outside, [&] { shmem_int_put(&on_stack, variable, 1, 0); });
  refuses("put to a thread's own", outside, [&] { shmem_int_put(&of_thread, variable, 1, 0); });
  refuses("put to null", outside, [&] { shmem_int_put(nullptr, variable, 1, 0); });
  refuses("put from null", invalid, [&] { shmem_int_put(variable, nullptr, 1, 0); });
  refuses("put of too much", outside, [&] { shmem_int_put(variable, variable, std::size_t{1} << 40, 0); });
  refuses("put of more than there can be", invalid, [&] { shmem_int_put(variable, variable, SIZE_MAX / 2, 0); });
  refuses("atomic, misaligned", misaligned,
          [&] { shmem_int_atomic_inc(reinterpret_cast<int*>(reinterpret_cast<char*>(variable) + 1), 0); });
  refuses("no operation on a signal", invalid,
          [&] { shmem_int_put_signal(variable, variable, 0, &signal_word, 1, 77, 0); });
  refuses("no comparison", invalid, [&] { shmem_int_wait_until(variable, 17, 0); });
  refuses("no comparison", invalid, [&] { static_cast<void>(shmem_int_test(variable, -1, 0)); });
  shmem_int_put(variable, &on_stack, 0, 0);
  shmem_int_put(nullptr, nullptr, 0, 0);
  refuses("a lock on the stack", outside, [] {
    long lock = 0;
    shmem_set_lock(&lock);
  });
  refuses("a lock that is not held", invalid, [] { shmem_clear_lock(&lock_word); });
}

void contexts_and_teams() {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  check("an unknown option", shmem_ctx_create(1L << 20, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  refuses("put on no context", invalid, [&] { shmem_ctx_int_p(SHMEM_CTX_INVALID, variable, 1, 0); });
  check("a context", shmem_ctx_create(0, &ctx) == 0);
  shmem_ctx_destroy(ctx);
  refuses("put on a context that is gone", invalid, [&] { shmem_ctx_int_p(ctx, variable, 1, 0); });
  refuses("destroyed twice", invalid, [&] { shmem_ctx_destroy(ctx); });
  refuses("destroying the default context", invalid, [&] { shmem_ctx_destroy(SHMEM_CTX_DEFAULT); });
  check("a context of no team", shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);

  shmem_team_t team = SHMEM_TEAM_WORLD;
  check("a team of nobody",
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 0, nullptr, 0, &team) != 0 && team == SHMEM_TEAM_INVALID);
  check("a team of too many", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1000, nullptr, 0, &team) != 0);
  check("a team of none", shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &team) != 0);
  check("a collective of no team", shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
  check("a root that is none", shmem_int_broadcast(SHMEM_TEAM_WORLD, variable, variable + 1, 1, shmem_n_pes()) != 0);
  int on_stack = 0;
  check("a source on the stack", shmem_int_sum_reduce(SHMEM_TEAM_WORLD, variable, &on_stack, 1) != 0);
  check("buffers that overlap", shmem_int_sum_reduce(SHMEM_TEAM_WORLD, variable, variable + 1, 2) != 0);
  refuses("destroying the world's team", invalid, [] { shmem_team_destroy(SHMEM_TEAM_WORLD); });
  refuses("no active set", invalid, [] { shmem_barrier(0, 0, shmem_n_pes() + 1, nullptr); });
  refuses("no active set", invalid, [] { shmem_barrier(0, -1, 1, nullptr); });
  refuses("no active set", invalid, [] { shmem_barrier(-1, 0, 1, nullptr); });
  if (shmem_n_pes() > 1)
    refuses("another's active set", invalid, [] { shmem_barrier((shmem_my_pe() + 1) % shmem_n_pes(), 0, 1, nullptr); });
}

void memory() {
  refuses("freed twice", invalid_free, [] {
    void* const memory = shmem_malloc(64);
    shmem_free(memory);
    shmem_free(memory);
  });
  refuses("freeing a variable", invalid_free, [] { shmem_free(variable); });
  check("more than there is", shmem_malloc(std::size_t{1} << 60) == nullptr);
  check("more than can be counted", shmem_calloc(SIZE_MAX / 2, 16) == nullptr);
  check("an alignment that is none", shmem_align(3, 64) == nullptr);
  auto* const freed = static_cast<int*>(shmem_malloc(4096));
  shmem_free(freed);
  check("memory after all that", shmem_malloc(64) != nullptr);
}

}  // namespace

int main() {
  refuses("before init", not_joined, [] { shmem_int_p(variable, 1, 0); });
  refuses("before init", not_joined, [] { shmem_barrier_all(); });
  check("memory before init", shmem_malloc(8) == nullptr);
  refuses("finalize before init", not_joined, [] { shmem_finalize(); });
  shmem_init();
  one_sided();
  contexts_and_teams();
  memory();
  shmem_barrier_all();
  shmem_int_p(variable, 3, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  check("the world still works", variable[0] == 3);
  shmem_barrier_all();
  shmem_finalize();
  refuses("a second finalize", not_joined, [] { shmem_finalize(); });
  refuses("after finalize", not_joined, [] { shmem_int_p(variable, 1, 0); });
  return failures;
}
