// LIBRARY: a program loads the library, joins, and closes the library without shmem_finalize. The handler that leaves
// the world at exit still runs.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  const auto init = reinterpret_cast<void (*)()>(library != nullptr ? dlsym(library, "shmem_init") : nullptr);
  if (init == nullptr) return 2;
  init();
  if (dlclose(library) != 0) return 3;
  std::puts("closed");
  return 0;
}
