// shmem.h: initialization, finalization, and queries of PEs and of the library.
#include <cstring>

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE(void, init, (void), library().start();)
PGAS_SHMEM_DEFINE_STATUS(init_thread, (int, int* provided), {
  library().start();
  if (provided != nullptr) *provided = SHMEM_THREAD_MULTIPLE;
})
PGAS_SHMEM_DEFINE(void, query_thread, (int* provided), *provided = SHMEM_THREAD_MULTIPLE;)
PGAS_SHMEM_DEFINE(void, query_initialized, (int* initialized),
                  *initialized = runtime::instance().stage() == stage::none ? 0 : 1;)
PGAS_SHMEM_DEFINE(void, finalize, (void), library().stop();)
PGAS_SHMEM_DEFINE(void, global_exit, (int status), runtime::instance().global_exit("shmem_global_exit", status);)

PGAS_SHMEM_DEFINE(int, my_pe, (void), return runtime::instance().my_pe();)
PGAS_SHMEM_DEFINE(int, n_pes, (void), return runtime::instance().n_pes();)
PGAS_SHMEM_DEFINE(int, pe_accessible, (int pe), return library().world().accessible(pe) ? 1 : 0;)
PGAS_SHMEM_DEFINE(int, addr_accessible, (const void* addr, int pe), {
  const bool is_static = library().static_data().contains(addr);
  if (is_static && !library().static_data().symmetric()) return 0;
  return library().world().accessible(symmetric(addr), pe) ? 1 : 0;
})

PGAS_SHMEM_DEFINE(void, info_get_version, (int* major, int* minor), {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
})
PGAS_SHMEM_DEFINE(void, info_get_name, (char* name),
                  std::memcpy(name, SHMEM_VENDOR_STRING, sizeof(SHMEM_VENDOR_STRING));)

void pshmem_pcontrol(int, ...) {}
PGAS_SHMEM_ALIAS(void, pcontrol, (int, ...))

}  // extern "C"
