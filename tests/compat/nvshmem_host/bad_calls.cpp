// Passes invalid arguments to functions that return no status. Each call ends all PEs.
#include "../bad_calls.hpp"

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>

namespace {

constexpr const char* no_such_pe = "E0301";
constexpr const char* outside = "E0302";
constexpr const char* misaligned = "E0303";
constexpr const char* invalid = "E0304";
constexpr const char* not_joined = "E0305";
constexpr const char* invalid_free = "E0206";

int* remote = nullptr;
std::uint64_t* signal_word = nullptr;
int local[4];
int me = -1;

int no_pe() { return nvshmem_n_pes(); }

const bad_call calls[] = {
    {"put_to_no_pe", "nvshmem_int_put", no_such_pe, [] { nvshmem_int_put(remote, local, 4, no_pe()); }},
    {"put_to_pe_minus_1", "nvshmem_putmem_nbi", no_such_pe, [] { nvshmem_putmem_nbi(remote, local, 4, -1); }},
    {"put_to_local_memory", "nvshmem_int_put", outside, [] { nvshmem_int_put(local, remote, 4, me); }},
    {"get_from_local_memory", "nvshmem_int_get", outside, [] { nvshmem_int_get(local, local, 4, me); }},
    {"put_of_all", "nvshmem_int_put", invalid, [] { nvshmem_int_put(remote, local, SIZE_MAX, me); }},
    {"put_of_too_much", "nvshmem_put64", outside, [] { nvshmem_put64(remote, local, size_t{1} << 50, me); }},
    {"strides", "nvshmem_int_iget", outside, [] { nvshmem_int_iget(local, local, 1, 1, 2, me); }},
    {"p", "nvshmem_int_p", outside, [] { nvshmem_int_p(local, 1, me); }},
    {"g", "nvshmem_int_g", outside, [] { static_cast<void>(nvshmem_int_g(local, me)); }},
    {"atomic", "nvshmem_int_atomic_inc", outside, [] { nvshmem_int_atomic_inc(local, me); }},
    {"fetch", "nvshmem_uint_atomic_fetch_xor", outside,
     [] { static_cast<void>(nvshmem_uint_atomic_fetch_xor(reinterpret_cast<unsigned*>(local), 1, me)); }},
    {"misaligned", "nvshmem_int_atomic_swap", misaligned,
     [] {
       auto* const crooked = reinterpret_cast<int*>(reinterpret_cast<char*>(remote) + 1);
       static_cast<void>(nvshmem_int_atomic_swap(crooked, 1, me));
     }},
    {"wait", "nvshmem_int_wait_until", outside, [] { nvshmem_int_wait_until(local, NVSHMEM_CMP_EQ, 0); }},
    {"wait_any", "nvshmem_int_wait_until_any", outside,
     [] { static_cast<void>(nvshmem_int_wait_until_any(local, 1, nullptr, NVSHMEM_CMP_EQ, 0)); }},
    {"test", "nvshmem_int_test", invalid, [] { static_cast<void>(nvshmem_int_test(remote, 17, 0)); }},
    {"signal_wait", "nvshmem_signal_wait_until", invalid,
     [] { static_cast<void>(nvshmem_signal_wait_until(signal_word, 17, 0)); }},
    {"signal_fetch", "nvshmem_signal_fetch", outside,
     [] {
       std::uint64_t word = 0;
       static_cast<void>(nvshmem_signal_fetch(&word));
     }},
    {"put_signal", "nvshmem_int_put_signal", invalid,
     [] { nvshmem_int_put_signal(remote, local, 1, signal_word, 1, 3, me); }},
    {"signal_op", "nvshmemx_signal_op", invalid, [] { nvshmemx_signal_op(signal_word, 1, 0, me); }},
    {"on_stream", "nvshmemx_int_put_on_stream", invalid,
     [] { nvshmemx_int_put_on_stream(remote, local, 4, me, nullptr); }},
    {"wait_on_stream", "nvshmemx_int_wait_until_on_stream", invalid,
     [] { nvshmemx_int_wait_until_on_stream(remote, NVSHMEM_CMP_EQ, 0, nullptr); }},
    {"barrier_on_stream", "nvshmemx_barrier_all_on_stream", invalid, [] { nvshmemx_barrier_all_on_stream(nullptr); }},
    {"free_inside", "nvshmem_free", invalid_free, [] { nvshmem_free(remote + 4); }},
    {"free_of_local_memory", "nvshmem_free", invalid_free, [] { nvshmem_free(local); }},
    {"team_of_the_world", "nvshmem_team_destroy", invalid, [] { nvshmem_team_destroy(NVSHMEM_TEAM_WORLD); }},
    {"no_team", "nvshmem_team_destroy", invalid, [] { nvshmem_team_destroy(77); }},
    {"no_place", "nvshmem_team_get_config", invalid, [] { nvshmem_team_get_config(NVSHMEM_TEAM_WORLD, nullptr); }},
    {"after_finalize", "nvshmem_quiet", not_joined,
     [] {
       nvshmem_finalize();
       nvshmem_quiet();
     }},
};

bool is_last() {
  nvshmem_init();
  remote = static_cast<int*>(nvshmem_malloc(64));
  signal_word = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  me = nvshmem_my_pe();
  return me == nvshmem_n_pes() - 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_bad_calls(argc, argv, calls, sizeof calls / sizeof *calls, is_last, [] { nvshmem_barrier_all(); });
}
