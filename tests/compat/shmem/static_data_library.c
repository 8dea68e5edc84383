/* A shared library that calls OpenSHMEM: its data are symmetric too. */
#include <shmem.h>

static long in_library = 5;
long library_array[1000];

long* library_variable(void);
long* library_variable(void) { return &in_library; }

void library_put(long value, int pe);
void library_put(long value, int pe) { shmem_long_p(&in_library, value, pe); }
