// C's complex types in C++. The reductions accept these as well as std::complex.
#include <complex.h>
#include <shmem.h>

#include <cstdio>

namespace {

int failures = 0;

template <class T>
void check(const char* what, T seen, T wanted) {
  if (seen == wanted) return;
  std::fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), what);
  ++failures;
}

__extension__ typedef float _Complex complex_float;
__extension__ typedef double _Complex complex_double;
/// 1 + i, for which C++ has no literal.
complex_float make_one_and_i() {
  complex_float result = 1;
  __imag__ result = 1;
  return result;
}
const complex_float one_and_i_float = make_one_and_i();
const complex_double one_and_i_double = one_and_i_float;
long sync_array[SHMEM_REDUCE_SYNC_SIZE];

#define TEST(NAME, PART)                                                                           \
  static complex_##PART NAME##_source, NAME##_dest, NAME##_work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];    \
  void test_##NAME(int me, int n) {                                                                \
    const complex_##PART one_i = one_and_i_##PART;                                                 \
    complex_##PART product = 1;                                                                    \
    for (int i = 0; i < n; ++i) product *= one_i;                                                  \
    NAME##_source = one_i;                                                                         \
    shmem_barrier_all();                                                                           \
    shmem_##NAME##_sum_to_all(&NAME##_dest, &NAME##_source, 1, 0, 0, n, NAME##_work, sync_array);  \
    check(#NAME " sum_to_all", NAME##_dest, one_i* PART(n));                                       \
    shmem_##NAME##_prod_to_all(&NAME##_dest, &NAME##_source, 1, 0, 0, n, NAME##_work, sync_array); \
    check(#NAME " prod_to_all", NAME##_dest, product);                                             \
    shmem_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, &NAME##_dest, &NAME##_source, 1);                  \
    check(#NAME " sum", NAME##_dest, one_i* PART(n));                                              \
    shmem_##NAME##_prod_reduce(SHMEM_TEAM_WORLD, &NAME##_dest, &NAME##_source, 1);                 \
    check(#NAME " prod", NAME##_dest, product);                                                    \
    shmem_##NAME##_sum_inscan(SHMEM_TEAM_WORLD, &NAME##_dest, &NAME##_source, 1);                  \
    check(#NAME " inscan", NAME##_dest, one_i* PART(me + 1));                                      \
    shmem_##NAME##_sum_exscan(SHMEM_TEAM_WORLD, &NAME##_dest, &NAME##_source, 1);                  \
    check(#NAME " exscan", NAME##_dest, one_i* PART(me));                                          \
  }
TEST(complexf, float)
TEST(complexd, double)

}  // namespace

int main() {
  shmem_init();
  test_complexf(shmem_my_pe(), shmem_n_pes());
  test_complexd(shmem_my_pe(), shmem_n_pes());
  shmem_barrier_all();
  shmem_finalize();
  return failures;
}
