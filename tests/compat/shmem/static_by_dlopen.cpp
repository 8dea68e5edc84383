// Usage: static_by_dlopen LIBRARY. The program is not linked to the library and loads it at run time. The program's own
// static data is not shared.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

static volatile int word = 1;
static volatile char large[1 << 20];

/// Whether the page of `at` belongs to a memory file.
static bool is_shared(const volatile void* at) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return true;
  char line[512];
  bool shared = false;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char access[8] = "";
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3) continue;
    const auto address = reinterpret_cast<unsigned long>(at);
    if (begin <= address && address < end) shared = access[3] == 's';
  }
  std::fclose(maps);
  return shared;
}

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  const auto init = reinterpret_cast<void (*)()>(dlsym(library, "shmem_init"));
  const auto finalize = reinterpret_cast<void (*)()>(dlsym(library, "shmem_finalize"));
  const auto allocate = reinterpret_cast<void* (*)(unsigned long)>(dlsym(library, "shmem_malloc"));
  if (library == nullptr || init == nullptr || finalize == nullptr || allocate == nullptr) return 2;
  large[5] = 1;
  init();
  bool good = !is_shared(&word) && !is_shared(large) && allocate(100) != nullptr;
  const pid_t child = fork();
  if (child == 0) {
    word = 2;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  good = good && status == 0 && word == 1;
  finalize();
  if (!good) std::fprintf(stderr, "the library shares data of a program that only loads it\n");
  return good ? 0 : 1;
}
