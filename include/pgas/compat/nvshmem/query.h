/// @file
/// Queries of PEs, teams and pointers, for host and kernels.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

PGAS_NVSHMEM_FN int nvshmem_my_pe(void) { PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_CONTEXT.my_pe(), pgas_nvshmem_my_pe()); }
PGAS_NVSHMEM_FN int nvshmem_n_pes(void) { PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_CONTEXT.n_pes(), pgas_nvshmem_n_pes()); }

PGAS_NVSHMEM_FN int nvshmem_team_my_pe(nvshmem_team_t team) {
  PGAS_NVSHMEM_BODY(pgas_nvshmem_has_team(team) ? PGAS_NVSHMEM_TEAM(team).my_pe() : -1, pgas_nvshmem_team_my_pe(team));
}
PGAS_NVSHMEM_FN int nvshmem_team_n_pes(nvshmem_team_t team) {
  PGAS_NVSHMEM_BODY(pgas_nvshmem_has_team(team) ? PGAS_NVSHMEM_TEAM(team).n_pes() : -1, pgas_nvshmem_team_n_pes(team));
}
PGAS_NVSHMEM_FN int nvshmem_team_translate_pe(nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team) {
  PGAS_NVSHMEM_BODY(pgas_nvshmem_has_team(src_team) && pgas_nvshmem_has_team(dest_team)
                        ? pgas::translate_pe(PGAS_NVSHMEM_TEAM(src_team), src_pe, PGAS_NVSHMEM_TEAM(dest_team))
                        : -1,
                    pgas_nvshmem_team_translate_pe(src_team, src_pe, dest_team));
}

/// The address at which this PE can load and store PE `pe`'s copy of `ptr`; null if PE `pe` is not load/store
/// accessible.
PGAS_NVSHMEM_FN void* nvshmem_ptr(const void* ptr, int pe) {
  PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_CONTEXT.ptr(static_cast<char*>(const_cast<void*>(ptr)), pe),
                    pgas_nvshmem_ptr(ptr, pe));
}
/// Returns null, because the library has no multicast addresses.
PGAS_NVSHMEM_FN void* nvshmemx_mc_ptr([[maybe_unused]] nvshmem_team_t team, [[maybe_unused]] const void* ptr) {
  PGAS_NVSHMEM_BODY(nullptr, pgas_nvshmem_mc_ptr(team, ptr));
}

PGAS_NVSHMEM_FN void nvshmem_info_get_version(int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
PGAS_NVSHMEM_FN void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}
/// *Memory* `name` has room for NVSHMEM_MAX_NAME_LEN bytes.
PGAS_NVSHMEM_FN void nvshmem_info_get_name(char* name) {
  const char text[] = NVSHMEM_VENDOR_STRING;
  for (size_t i = 0; i < sizeof text; ++i) name[i] = text[i];
}

#if defined(PGAS_NVSHMEM_ON_DEVICE)
/// Implements nvshmem_global_exit() in a kernel: the kernel ends with a failure record, and the next host call on any
/// PE fails.
PGAS_NVSHMEM_DEVICE_FN void pgas_nvshmem_abort_kernel(int status) {
  pgas::detail::report(PGAS_NVSHMEM_CONTEXT,
                       pgas::detail::bad_argument(pgas::detail::failure::aborted, pgas::detail::operation::none,
                                                  PGAS_NVSHMEM_CONTEXT.my_pe(), 0, static_cast<uint64_t>(status)));
  pgas::detail::end_thread();
}
#endif
PGAS_NVSHMEM_FN void nvshmem_global_exit(int status) {
  PGAS_NVSHMEM_BODY(pgas_nvshmem_abort_kernel(status), pgas_nvshmem_global_exit(status));
}
