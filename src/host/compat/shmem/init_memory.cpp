// shmem.h: initialization, finalization, queries of PEs and of the library; symmetric memory.
#include <cstring>

#include "host/compat/shmem/define_function.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;

/// shmem_ptr(): null for static data that is not symmetric. Other functions report an error for static data that is not
/// symmetric.
void* pointer_to(const void* dest, const pgas::team& members, int pe) {
  class pgas::world& w = library().world();
  const bool is_static = library().static_data().contains(dest);
  if (pe < 0 || pe >= members.n_pes() || (is_static && !library().static_data().symmetric())) return nullptr;
  const int world_pe = members.world_pe(pe);
  if (is_static && world_pe == w.my_pe()) return const_cast<void*>(dest);
  return const_cast<void*>(w.ptr(symmetric(dest), world_pe));
}

/// OpenSHMEM's allocations end with a barrier, unless they return null.
void* after_barrier(void* memory) {
  if (memory != nullptr) library().world().barrier_all();
  return memory;
}

pgas::memory_hint hints_of(long hints) {
  constexpr long known = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;
  return static_cast<pgas::memory_hint>(hints & known);  // both types use the same bits; unknown hints are ignored
}

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE(void, init, (void), library().start();)
int pshmem_init_thread(int, int* provided) {
  return to_status(
      "shmem_init_thread", -1,
      [&] {
        library().start();
        if (provided != nullptr) *provided = SHMEM_THREAD_MULTIPLE;
        return 0;
      },
      pgas::log_level::error);
}
PGAS_SHMEM_ALIAS(int, init_thread, (int, int* provided))
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

PGAS_SHMEM_DEFINE_OR(void*, nullptr, malloc, (size_t size),
                     return after_barrier(library().world().allocate_bytes(size));)
PGAS_SHMEM_DEFINE_OR(void*, nullptr, calloc, (size_t count, size_t size),
                     return after_barrier(library().world().allocate_bytes(count, size, 16, pgas::initialize::zero));)
PGAS_SHMEM_DEFINE_OR(void*, nullptr, align, (size_t alignment, size_t size),
                     return after_barrier(library().world().allocate_bytes(size, 1, alignment_of(alignment)));)
PGAS_SHMEM_DEFINE_OR(void*, nullptr, realloc, (void* ptr, size_t size), {
  if (ptr != nullptr) pgas::quiet(library().world());
  return after_barrier(library().world().reallocate_bytes(ptr, size));
})
PGAS_SHMEM_DEFINE_OR(void*, nullptr, malloc_with_hints, (size_t size, long hints),
                     return after_barrier(library().world().allocate_bytes(size, 1, hints_of(hints)));)
PGAS_SHMEM_DEFINE(void, free, (void* ptr), {
  if (ptr != nullptr) pgas::quiet(library().world());
  library().world().free(ptr);
})
PGAS_SHMEM_DEFINE_OR(void*, nullptr, ptr, (const void* dest, int pe),
                     return pointer_to(dest, library().world().team(), pe);)
PGAS_SHMEM_DEFINE_OR(void*, nullptr, team_ptr, (shmem_team_t team, const void* dest, int pe), {
  if (team == SHMEM_TEAM_INVALID) return nullptr;
  return pointer_to(dest, library().team_of(team), pe);
})

}  // extern "C"
