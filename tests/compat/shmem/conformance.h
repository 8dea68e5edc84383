/// @file
/// Used by the generated conformance programs: values that every PE can compute for any PE, checks, and symmetric
/// memory. The programs access symmetric memory only through the interface, because symmetric memory can be GPU memory.
#pragma once

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __cplusplus
#include <complex.h>
#endif

/// An element of 128 bits.
typedef struct {
  uint64_t low, high;
} pair;

static int me, n, left, right;
static int failures;
static shmem_ctx_t ctx;    ///< a context of all PEs
static shmem_team_t team;  ///< a team of all PEs, with the last PE first
static char* memory[3];    ///< symmetric, each of area_bytes
enum { area_bytes = 1 << 16, filler = 77 };
static long double static_memory[3][(1 << 16) / sizeof(long double)];

/// A pseudo-random number that depends only on the arguments.
static inline uint64_t mix(int pe, int salt, int i) {
  uint64_t x = (uint64_t)(pe + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(salt + 1) * 0xc2b2ae3d27d4eb4fu +
               (uint64_t)i * 0x165667b19e3779f9u;
  x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 29);
}
static inline long small_number(int pe, int salt, int i) { return (long)(mix(pe, salt, i) % 41) - 20; }

/// The values of each kind of type. Real numbers are multiples of 1/8, so that sums do not depend on their order.
#define VALUE_INT(T, pe, salt, i) ((T)mix(pe, salt, i))
#define VALUE_REAL(T, pe, salt, i) ((T)small_number(pe, salt, i) / (T)8)
#define EQUAL_INT(a, b) ((a) == (b))
#define EQUAL_REAL(a, b) ((a) == (b))
#define EQUAL_COMPLEX(a, b) ((a) == (b))
#define EQUAL_PAIR(a, b) ((a).low == (b).low && (a).high == (b).high)
#define CONSTANT_INT(T, v) ((T)(v))
#define CONSTANT_REAL(T, v) ((T)(v))
#define CONSTANT_PAIR(T, v) pair_of(v, v)
static inline pair pair_of(uint64_t low, uint64_t high) {
  pair result;
  result.low = low;
  result.high = high;
  return result;
}
#define VALUE_PAIR(T, pe, salt, i) pair_of(mix(pe, salt, i), mix(pe, salt, (i) + 100))
#ifdef __cplusplus
#define CONSTANT_COMPLEX(T, v) T(T::value_type(v))
#define VALUE_COMPLEX(T, pe, salt, i) \
  T(T::value_type(small_number(pe, salt, i)), T::value_type(small_number(pe, salt, (i) + 100)))
#else
#define CONSTANT_COMPLEX(T, v) ((T)(double)(v))
#define VALUE_COMPLEX(T, pe, salt, i) \
  ((T)(double)small_number(pe, salt, i) + (T)_Complex_I * (T)(double)small_number(pe, salt, (i) + 100))
#endif

/// Sums and products with C's semantics. Integers wrap around.
#define SUM_INT(T, a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define PROD_INT(T, a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define SUM_REAL(T, a, b) ((a) + (b))
#define PROD_REAL(T, a, b) ((a) * (b))
#define SUM_COMPLEX(T, a, b) ((a) + (b))
#define PROD_COMPLEX(T, a, b) ((a) * (b))

static void failed(const char* what, int line) {
  if (++failures <= 20) fprintf(stderr, "PE %d: line %d: %s\n", me, line, what);
}
#define CHECK(what, condition)                \
  do {                                        \
    if (!(condition)) failed(what, __LINE__); \
  } while (0)
/// Compares all elements of two local arrays.
#define CHECK_ARRAY(what, KIND, got, wanted, count)                                         \
  do {                                                                                      \
    int i_, wrong_ = 0;                                                                     \
    for (i_ = 0; i_ < (int)(count); ++i_) wrong_ += !EQUAL_##KIND((got)[i_], (wanted)[i_]); \
    CHECK(what, wrong_ == 0);                                                               \
  } while (0)
#define FILL(KIND, T, array, count, pe, salt)                                          \
  do {                                                                                 \
    int i_;                                                                            \
    for (i_ = 0; i_ < (int)(count); ++i_) (array)[i_] = VALUE_##KIND(T, pe, salt, i_); \
  } while (0)
#define CLEAR(KIND, T, array, count)                                                \
  do {                                                                              \
    int i_;                                                                         \
    for (i_ = 0; i_ < (int)(count); ++i_) (array)[i_] = CONSTANT_##KIND(T, filler); \
  } while (0)

/// Accesses this PE's own symmetric memory.
static inline void store(void* symmetric, const void* local, size_t bytes) {
  shmem_putmem(symmetric, local, bytes, me);
}
static inline void load(void* local, const void* symmetric, size_t bytes) { shmem_getmem(local, symmetric, bytes, me); }

static int begin(int argc, char** argv) {
  int provided = -1, i;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE) return 1;
  me = shmem_my_pe();
  n = shmem_n_pes();
  left = (me + n - 1) % n;
  right = (me + 1) % n;
  for (i = 0; i < 3; ++i)
    memory[i] = argc > 1 && strcmp(argv[1], "static") == 0 ? (char*)static_memory[i] : (char*)shmem_malloc(area_bytes);
  CHECK("memory", memory[0] && memory[1] && memory[2]);
  CHECK("shmem_ctx_create", shmem_ctx_create(0, &ctx) == 0);
  CHECK("split", shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, n > 1 ? -1 : 1, n, NULL, 0, &team) == 0);
  CHECK("numbers", shmem_team_my_pe(team) == n - 1 - me && shmem_team_n_pes(team) == n);
  return failures;
}

static int end(int argc, char** argv) {
  int i;
  const int all_good = failures == 0;
  shmem_team_destroy(team);
  shmem_ctx_destroy(ctx);
  if (!(argc > 1 && strcmp(argv[1], "static") == 0))
    for (i = 0; i < 3; ++i) shmem_free(memory[i]);
  shmem_finalize();
  if (me == 0 && all_good) printf("all good on %d PEs\n", n);
  return failures != 0;
}
