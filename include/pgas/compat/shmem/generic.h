/// @file
/// C11: one name for all types. How the right function is selected; the names are in generic_data.h, generic_atomic.h
/// and generic_collective.h. Types that are the same to the compiler (long and int64_t) select the same function.
#pragma once

#include "types.h"

/// Selected by a call with a type that an operation does not take: it has no parameters, so the call does not compile.
void pgas_shmem_no_such_type(void);

#define PGAS_SHMEM_FIRST(...) PGAS_SHMEM_FIRST_OF(__VA_ARGS__, 0)
#define PGAS_SHMEM_FIRST_OF(FIRST, ...) FIRST
#define PGAS_SHMEM_SECOND(...) PGAS_SHMEM_SECOND_OF(__VA_ARGS__, 0, 0)
#define PGAS_SHMEM_SECOND_OF(FIRST, SECOND, ...) SECOND

/// Pointers to one type.
#define PGAS_SHMEM_ROW(TYPE, FUNCTION) TYPE* : FUNCTION, const TYPE* : FUNCTION, volatile TYPE* : FUNCTION

/// Associations of _Generic for the types of a family. PRE and POST surround the name of the type.
#define PGAS_SHMEM_LONG_ROWS(PRE, POST)                                       \
  PGAS_SHMEM_ROW(int, PRE##int##POST), PGAS_SHMEM_ROW(long, PRE##long##POST), \
      PGAS_SHMEM_ROW(long long, PRE##longlong##POST)
#define PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST)                                                       \
  PGAS_SHMEM_ROW(unsigned int, PRE##uint##POST), PGAS_SHMEM_ROW(unsigned long, PRE##ulong##POST), \
      PGAS_SHMEM_ROW(unsigned long long, PRE##ulonglong##POST)
#define PGAS_SHMEM_FLOAT_ROWS(PRE, POST) \
  PGAS_SHMEM_ROW(float, PRE##float##POST), PGAS_SHMEM_ROW(double, PRE##double##POST)
#define PGAS_SHMEM_SMALL_ROWS(PRE, POST)                                                        \
  PGAS_SHMEM_ROW(char, PRE##char##POST), PGAS_SHMEM_ROW(signed char, PRE##schar##POST),         \
      PGAS_SHMEM_ROW(short, PRE##short##POST), PGAS_SHMEM_ROW(unsigned char, PRE##uchar##POST), \
      PGAS_SHMEM_ROW(unsigned short, PRE##ushort##POST)

#define PGAS_SHMEM_INTEGER_TYPES(PRE, POST) PGAS_SHMEM_LONG_ROWS(PRE, POST), PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST)
#define PGAS_SHMEM_WORD_TYPES(PRE, POST) PGAS_SHMEM_INTEGER_TYPES(PRE, POST), PGAS_SHMEM_FLOAT_ROWS(PRE, POST)
#define PGAS_SHMEM_RMA_TYPES(PRE, POST) \
  PGAS_SHMEM_WORD_TYPES(PRE, POST), PGAS_SHMEM_SMALL_ROWS(PRE, POST), PGAS_SHMEM_ROW(long double, PRE##longdouble##POST)
#define PGAS_SHMEM_SUM_TYPES(PRE, POST)                                                  \
  PGAS_SHMEM_RMA_TYPES(PRE, POST), PGAS_SHMEM_ROW(double _Complex, PRE##complexd##POST), \
      PGAS_SHMEM_ROW(float _Complex, PRE##complexf##POST)
/// Signed types that the unsigned rows lack: bitwise operations take int32_t and int64_t too.
#define PGAS_SHMEM_BITS_TYPES(PRE, POST)                                          \
  PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST), PGAS_SHMEM_ROW(int32_t, PRE##int32##POST), \
      PGAS_SHMEM_ROW(int64_t, PRE##int64##POST)
#define PGAS_SHMEM_REDUCE_BITS_TYPES(PRE, POST)                                                   \
  PGAS_SHMEM_BITS_TYPES(PRE, POST), PGAS_SHMEM_ROW(unsigned char, PRE##uchar##POST),              \
      PGAS_SHMEM_ROW(unsigned short, PRE##ushort##POST), PGAS_SHMEM_ROW(int8_t, PRE##int8##POST), \
      PGAS_SHMEM_ROW(int16_t, PRE##int16##POST)

/// By the type of the first argument.
#define PGAS_SHMEM_BY_FIRST(TYPES, POST, ...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), TYPES(shmem_, POST), default : pgas_shmem_no_such_type)(__VA_ARGS__)
/// By the type of the second argument: a team comes first.
#define PGAS_SHMEM_BY_SECOND(TYPES, POST, ...) \
  _Generic((PGAS_SHMEM_SECOND(__VA_ARGS__)), TYPES(shmem_, POST), default : pgas_shmem_no_such_type)(__VA_ARGS__)
/// By the type of the first argument that is not a context.
#define PGAS_SHMEM_BY_DATA(TYPES, POST, ...)                                             \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_ctx_t                                  \
           : _Generic((PGAS_SHMEM_SECOND(__VA_ARGS__)), TYPES(shmem_ctx_, POST), default \
                      : pgas_shmem_no_such_type),                                        \
             default                                                                     \
           : _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), TYPES(shmem_, POST), default      \
                      : pgas_shmem_no_such_type))(__VA_ARGS__)
