/// @file
/// Who is there, and where a peer's memory is: what the host and kernels may ask.
#pragma once

#include "pgas/compat/nvshmem/sides.h"
#include "pgas/compat/nvshmem/team_view.h"

PGAS_NVSHMEM_FN int nvshmem_my_pe(void) { PGAS_NVSHMEM_SIDES(PGAS_NVSHMEM_CONTEXT.my_pe(), pgas_nvshmem_my_pe()); }
PGAS_NVSHMEM_FN int nvshmem_n_pes(void) { PGAS_NVSHMEM_SIDES(PGAS_NVSHMEM_CONTEXT.n_pes(), pgas_nvshmem_n_pes()); }

PGAS_NVSHMEM_FN int nvshmem_team_my_pe(nvshmem_team_t team) {
  PGAS_NVSHMEM_SIDES(pgas_nvshmem_has_team(team) ? PGAS_NVSHMEM_TEAM(team).my_pe() : -1, pgas_nvshmem_team_my_pe(team));
}
PGAS_NVSHMEM_FN int nvshmem_team_n_pes(nvshmem_team_t team) {
  PGAS_NVSHMEM_SIDES(pgas_nvshmem_has_team(team) ? PGAS_NVSHMEM_TEAM(team).n_pes() : -1, pgas_nvshmem_team_n_pes(team));
}
PGAS_NVSHMEM_FN int nvshmem_team_translate_pe(nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team) {
  PGAS_NVSHMEM_SIDES(pgas_nvshmem_has_team(src_team) && pgas_nvshmem_has_team(dest_team)
                         ? pgas::translate_pe(PGAS_NVSHMEM_TEAM(src_team), src_pe, PGAS_NVSHMEM_TEAM(dest_team))
                         : -1,
                     pgas_nvshmem_team_translate_pe(src_team, src_pe, dest_team));
}

/// Where this PE can load and store what PE `pe` has at `ptr`; null where it can not.
PGAS_NVSHMEM_FN void* nvshmem_ptr(const void* ptr, int pe) {
  PGAS_NVSHMEM_SIDES(PGAS_NVSHMEM_CONTEXT.ptr(static_cast<char*>(const_cast<void*>(ptr)), pe),
                     pgas_nvshmem_ptr(ptr, pe));
}
/// Null: there are no multicast addresses.
PGAS_NVSHMEM_FN void* nvshmemx_mc_ptr([[maybe_unused]] nvshmem_team_t team, [[maybe_unused]] const void* ptr) {
  PGAS_NVSHMEM_SIDES(nullptr, pgas_nvshmem_mc_ptr(team, ptr));
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
/// What a kernel can do of it: it ends with a record, and the host's next call of any PE fails for it.
PGAS_NVSHMEM_DEVICE_FN void pgas_nvshmem_give_up(int status) {
  pgas::detail::report(PGAS_NVSHMEM_CONTEXT,
                       pgas::detail::bad_argument(pgas::detail::failure::aborted, pgas::detail::operation::none,
                                                  PGAS_NVSHMEM_CONTEXT.my_pe(), 0, static_cast<uint64_t>(status)));
  pgas::detail::end_thread();
}
#endif
PGAS_NVSHMEM_FN void nvshmem_global_exit(int status) {
  PGAS_NVSHMEM_SIDES(pgas_nvshmem_give_up(status), pgas_nvshmem_global_exit(status));
}
