// Passes invalid arguments to functions that return no status. Each call ends all PEs.
#include "../bad_calls.hpp"

#include <shmem.h>

#include <cstdint>

namespace {

constexpr const char* no_such_pe = "E0301";
constexpr const char* outside = "E0302";
constexpr const char* misaligned = "E0303";
constexpr const char* invalid = "E0304";
constexpr const char* not_joined = "E0305";
constexpr const char* invalid_free = "E0206";

thread_local int of_thread = 0;
int variable[4];
std::uint64_t signal_word;
long lock_word;

int no_pe() { return shmem_n_pes(); }

shmem_ctx_t gone() {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  if (shmem_ctx_create(0, &ctx) == 0) shmem_ctx_destroy(ctx);
  return ctx;
}

int* crooked() { return reinterpret_cast<int*>(reinterpret_cast<char*>(variable) + 1); }

const bad_call calls[] = {
    {"put_to_no_pe", "shmem_int_put", no_such_pe, [] { shmem_int_put(variable, variable, 1, no_pe()); }},
    {"put_to_pe_minus_1", "shmem_long_put", no_such_pe, [] { shmem_long_put(&lock_word, &lock_word, 1, -1); }},
    {"get_from_no_pe", "shmem_int_get", no_such_pe, [] { shmem_int_get(variable, variable, 1, no_pe()); }},
    {"p_to_no_pe", "shmem_int_p", no_such_pe, [] { shmem_int_p(variable, 1, no_pe()); }},
    {"p_far_off", "shmem_ctx_int_p", no_such_pe,
     [] { shmem_ctx_int_p(SHMEM_CTX_DEFAULT, variable, 1, no_pe() + 1000); }},
    {"g_of_no_pe", "shmem_int_g", no_such_pe, [] { static_cast<void>(shmem_int_g(variable, no_pe())); }},
    {"atomic_at_no_pe", "shmem_int_atomic_inc", no_such_pe, [] { shmem_int_atomic_inc(variable, no_pe()); }},
    {"old_atomic", "shmem_int_fadd", no_such_pe, [] { static_cast<void>(shmem_int_fadd(variable, 1, no_pe())); }},
    {"signal_to_no_pe", "shmem_signal_set", no_such_pe, [] { shmem_signal_set(&signal_word, 1, no_pe()); }},
    {"quiet_of_no_pe", "shmem_pe_quiet", no_such_pe,
     [] {
       const int pe = no_pe();
       shmem_pe_quiet(&pe, 1);
     }},
    {"put_to_the_stack", "shmem_int_put", outside,
     [] {
       int on_stack = 0;
       shmem_int_put(&on_stack, variable, 1, 0);
     }},
    {"put_to_a_threads_own", "shmem_putmem", outside, [] { shmem_putmem(&of_thread, variable, 1, 0); }},
    {"put_to_null", "shmem_int_put_nbi", outside, [] { shmem_int_put_nbi(nullptr, variable, 1, 0); }},
    {"put_from_null", "shmem_put32", invalid, [] { shmem_put32(variable, nullptr, 1, 0); }},
    {"put_of_too_much", "shmem_int_put", outside, [] { shmem_int_put(variable, variable, std::size_t{1} << 40, 0); }},
    {"put_of_all", "shmem_int_put", invalid, [] { shmem_int_put(variable, variable, SIZE_MAX / 2, 0); }},
    {"strides", "shmem_int_iput", outside, [] { shmem_int_iput(variable, variable, 1, 1, std::size_t{1} << 50, 0); }},
    {"misaligned", "shmem_int_atomic_add", misaligned, [] { shmem_int_atomic_add(crooked(), 1, 0); }},
    {"no_signal_operation", "shmem_int_put_signal", invalid,
     [] { shmem_int_put_signal(variable, variable, 0, &signal_word, 1, 77, 0); }},
    {"no_comparison", "shmem_int_wait_until", invalid, [] { shmem_int_wait_until(variable, 17, 0); }},
    {"old_wait", "shmem_wait_until", invalid, [] { shmem_wait_until(&lock_word, 17, 0); }},
    {"test_without_comparison", "shmem_short_test_any", invalid,
     [] { static_cast<void>(shmem_short_test_any(reinterpret_cast<short*>(variable), 1, nullptr, -1, 0)); }},
    {"lock_on_the_stack", "shmem_set_lock", outside,
     [] {
       long lock = 0;
       shmem_set_lock(&lock);
     }},
    {"lock_that_is_not_held", "shmem_clear_lock", invalid, [] { shmem_clear_lock(&lock_word); }},
    {"no_context", "shmem_ctx_int_p", invalid, [] { shmem_ctx_int_p(SHMEM_CTX_INVALID, variable, 1, 0); }},
    {"context_that_is_gone", "shmem_ctx_fence", invalid, [] { shmem_ctx_fence(gone()); }},
    {"context_destroyed_twice", "shmem_ctx_destroy", invalid, [] { shmem_ctx_destroy(gone()); }},
    {"default_context", "shmem_ctx_destroy", invalid, [] { shmem_ctx_destroy(SHMEM_CTX_DEFAULT); }},
    {"team_of_the_world", "shmem_team_destroy", invalid, [] { shmem_team_destroy(SHMEM_TEAM_WORLD); }},
    {"set_too_large", "shmem_barrier", invalid, [] { shmem_barrier(0, 0, no_pe() + 1, nullptr); }},
    {"set_of_no_stride", "shmem_sync", invalid, [] { shmem_sync(0, -1, 1, nullptr); }},
    {"set_of_no_start", "shmem_int_sum_to_all", invalid,
     [] { shmem_int_sum_to_all(variable, variable + 1, 1, -1, 0, 1, nullptr, nullptr); }},
    {"set_of_no_root", "shmem_broadcast32", no_such_pe,
     [] { shmem_broadcast32(variable, variable + 1, 1, 7, no_pe() - 1, 0, 1, nullptr); }},
    {"free_of_a_variable", "shmem_free", invalid_free, [] { shmem_free(variable); }},
    {"after_finalize", "shmem_int_p", not_joined,
     [] {
       shmem_finalize();
       shmem_int_p(variable, 1, 0);
     }},
};

bool is_last() {
  shmem_init();
  return shmem_my_pe() == shmem_n_pes() - 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_bad_calls(argc, argv, calls, sizeof calls / sizeof *calls, is_last, [] { shmem_barrier_all(); });
}
