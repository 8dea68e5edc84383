/* What code that g++ of Debian 12 compiles needs beside glibc 2.28. older_runtime.py compiles each part alone. */

#define HIDDEN __attribute__((visibility("hidden")))

#ifdef CONSTRUCTORS
/* Before glibc 2.34 the program passed a function that runs its constructors. The startup code of later releases passes
   none, because a later __libc_start_main() finds the constructors itself. Without this function, constructors of
   global objects would not run on an older release. */
typedef int main_function(int, char**, char**);
typedef void constructor(int, char**, char**);
extern void _init(void);
extern constructor* __init_array_start[] HIDDEN;
extern constructor* __init_array_end[] HIDDEN;

static void run_constructors(int argc, char** argv, char** environment) {
  _init();
  for (constructor** each = __init_array_start; each != __init_array_end; ++each) (*each)(argc, argv, environment);
}

int __real___libc_start_main(main_function*, int, char**, constructor*, void (*)(void), void (*)(void), void*);

HIDDEN int __wrap___libc_start_main(main_function* main, int argc, char** argv, constructor* init, void (*fini)(void),
                                    void (*rtld_fini)(void), void* stack_end) {
  (void)init;
  return __real___libc_start_main(main, argc, argv, run_constructors, fini, rtld_fini, stack_end);
}
#endif

#ifdef FILES
/* Before glibc 2.33 these functions were inline, and called functions that take the version of the struct. */
#include <sys/stat.h>

#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);

HIDDEN int stat(const char* path, struct stat* to) { return __xstat(STAT_VERSION, path, to); }
HIDDEN int lstat(const char* path, struct stat* to) { return __lxstat(STAT_VERSION, path, to); }
HIDDEN int fstat(int file, struct stat* to) { return __fxstat(STAT_VERSION, file, to); }
HIDDEN int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return __fxstatat(STAT_VERSION, folder, path, to, flags);
}
#endif

#ifdef ONE_THREAD
/* Headers of libstdc++ ask glibc 2.32 whether the process has one thread. */
HIDDEN char __libc_single_threaded = 0;
#endif

#ifdef CLOCKS
/* glibc 2.30 has waits until a time of a given clock. An older release waits until a time of the system's clock, so a
   wait is longer there if somebody sets that clock back meanwhile. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

/* The time of the system's clock at which `clock` shows `until`, at most a second from now. Returns 0 if that has
 * passed. */
static int on_system_clock(clockid_t clock, const struct timespec* until, struct timespec* system) {
  struct timespec now;
  clock_gettime(clock, &now);
  long long left = (until->tv_sec - now.tv_sec) * 1000000000LL + until->tv_nsec - now.tv_nsec;
  if (left <= 0) return 0;
  if (left > 1000000000) left = 1000000000;
  clock_gettime(CLOCK_REALTIME, system);
  left += system->tv_nsec;
  system->tv_sec += left / 1000000000;
  system->tv_nsec = left % 1000000000;
  return 1;
}

/* The function of glibc, or 0. Threads that look it up at the same time find the same. */
static void* of_glibc(void** kept, const char* name) {
  void* found = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (found == 0) __atomic_store_n(kept, found = dlsym(RTLD_DEFAULT, name), __ATOMIC_RELAXED);
  return found;
}

/* NAME waits as glibc's function of that name, and without one as OLDER, which takes a time of the system's clock. */
#define WAIT(NAME, OLDER, PARAMETERS, ARGUMENTS, ...)                        \
  HIDDEN int NAME PARAMETERS {                                               \
    static void* kept;                                                       \
    int(*const wait) PARAMETERS = (int(*) PARAMETERS)of_glibc(&kept, #NAME); \
    if (wait != 0) return wait ARGUMENTS;                                    \
    struct timespec system;                                                  \
    while (on_system_clock(clock, until, &system)) {                         \
      const int result = OLDER(__VA_ARGS__, &system);                        \
      if (result != ETIMEDOUT) return result;                                \
    }                                                                        \
    return ETIMEDOUT;                                                        \
  }
WAIT(pthread_cond_clockwait, pthread_cond_timedwait,
     (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until),
     (condition, mutex, clock, until), condition, mutex)
WAIT(pthread_mutex_clocklock, pthread_mutex_timedlock,
     (pthread_mutex_t * mutex, clockid_t clock, const struct timespec* until), (mutex, clock, until), mutex)
WAIT(pthread_rwlock_clockrdlock, pthread_rwlock_timedrdlock,
     (pthread_rwlock_t * lock, clockid_t clock, const struct timespec* until), (lock, clock, until), lock)
WAIT(pthread_rwlock_clockwrlock, pthread_rwlock_timedwrlock,
     (pthread_rwlock_t * lock, clockid_t clock, const struct timespec* until), (lock, clock, until), lock)
#endif
