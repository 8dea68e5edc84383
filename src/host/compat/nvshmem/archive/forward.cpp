// libnvshmem.a, for programs that link to an archive of this name. Each function of the interface jumps to the function
// of the same name in libnvshmem_host.so. The program loads libnvshmem_host.so at its start. The archive contains
// neither the shared library, which lld refuses in an archive, nor a linker script, which nvlink refuses.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#if defined(__x86_64__)
#define PGAS_JUMP_TO(address) "jmp *" address "(%rip)\n"
#elif defined(__aarch64__)
#define PGAS_JUMP_TO(address) "adrp x16, " address "\nldr x16, [x16, #:lo12:" address "]\nbr x16\n"
#else
#error "libnvshmem.a: no jump for this processor"
#endif

// functions.inc contains PGAS_FORWARD(name) for each function of the library.
#define PGAS_FORWARD(name)                                                       \
  extern "C" {                                                                   \
  [[gnu::visibility("hidden")]] void* pgas_address_of_##name;                    \
  }                                                                              \
  asm(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name \
      ":\n" PGAS_JUMP_TO("pgas_address_of_" #name) ".size " #name ", .-" #name "\n.popsection\n");
#include "functions.inc"
#undef PGAS_FORWARD

namespace {

struct function {
  const char* name;
  void** address;
};

#define PGAS_FORWARD(name) {#name, &pgas_address_of_##name},
constexpr function functions[] = {
#include "functions.inc"
};
#undef PGAS_FORWARD

/// Ends the process with the message of the dynamic linker for a missing library.
[[noreturn]] void refuse() {
  std::fprintf(stderr,
               "%s: link to libnvshmem.a with -Wl,-rpath,DIRECTORY of this library, or name the directory in "
               "LD_LIBRARY_PATH\n",
               ::dlerror());
  std::_Exit(127);
}

/// Runs before other constructors, because other constructors can call functions of the interface.
[[gnu::constructor(101)]] void load() {
  void* const library = ::dlopen(PGAS_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) refuse();
  for (const function& item : functions)
    if ((*item.address = ::dlsym(library, item.name)) == nullptr) refuse();
}

}  // namespace
