/* How the C programs of this folder fail: with the place, the condition, and the last error of pgas/sharing.h. */
#pragma once

#include <stdio.h>

#include "pgas/sharing.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, pgas_sharing_error()); \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)
