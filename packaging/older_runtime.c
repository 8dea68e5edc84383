/* Functions that code compiled by Debian 12's g++ calls and that glibc 2.28 lacks. older_runtime.py compiles each part
   alone. */

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
/* glibc 2.30 has waits until a time of a given clock. An older release waits until a time of the system's clock. If
   somebody sets that clock back during a wait, the wait lasts longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

/* The time of the system's clock at which `clock` shows `until`, at most a second from now. Returns 0 if that has
   passed. */
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

/* Declares NAME_of_glibc, glibc's function NAME, or 0. It is looked up once, because a wait may hold a lock that a
   function of the loader needs. */
#define OF_GLIBC(NAME, PARAMETERS)                                                       \
  static int(*NAME##_of_glibc) PARAMETERS;                                               \
  __attribute__((constructor)) static void look_up_##NAME(void) {                        \
    NAME##_of_glibc = (int(*) PARAMETERS)dlsym(RTLD_DEFAULT, #NAME);                     \
  }

OF_GLIBC(pthread_cond_clockwait, (pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  if (pthread_cond_clockwait_of_glibc != 0) return pthread_cond_clockwait_of_glibc(condition, mutex, clock, until);
  struct timespec system;
  if (!on_system_clock(clock, until, &system)) return ETIMEDOUT;
  const int result = pthread_cond_timedwait(condition, mutex, &system);
  /* After a second, the caller looks at its condition, as after any spurious wake-up. A second wait here could miss a
     notification between the two. */
  return result == ETIMEDOUT && on_system_clock(clock, until, &system) ? 0 : result;
}

/* NAME calls glibc's function of that name. If there is none, NAME calls OLDER, whose limit is a time of the system's
   clock. */
#define LOCK(NAME, OLDER, TYPE)                                                          \
  OF_GLIBC(NAME, (TYPE*, clockid_t, const struct timespec*))                             \
  HIDDEN int NAME(TYPE* lock, clockid_t clock, const struct timespec* until) {           \
    if (NAME##_of_glibc != 0) return NAME##_of_glibc(lock, clock, until);                \
    struct timespec system;                                                              \
    while (on_system_clock(clock, until, &system)) {                                     \
      const int result = OLDER(lock, &system);                                           \
      if (result != ETIMEDOUT) return result;                                            \
    }                                                                                    \
    return ETIMEDOUT;                                                                    \
  }
LOCK(pthread_mutex_clocklock, pthread_mutex_timedlock, pthread_mutex_t)
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_timedrdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_timedwrlock, pthread_rwlock_t)
#endif
