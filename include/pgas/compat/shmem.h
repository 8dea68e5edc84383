/// @file
/// OpenSHMEM 1.5 for C and C++ on top of pgas: <shmem.h>. It has the whole interface, with the deprecated parts of 1.4,
/// and the parts of 1.6 that pgas supports. Compile and link with pgas-cc or pgas-c++, or with the flags of
/// pgas-shmem.pc.
///
/// *Errors* functions that return a status or a pointer return nonzero or null. All others log the failure with their
/// name and end the processes of all PEs with status 1, as shmem_global_exit() does.
#pragma once

#include "../detail/names_begin.inc"

#include "shmem/active_set.h"
#include "shmem/atomic.h"
#include "shmem/collective.h"
#include "shmem/init_memory.h"
#include "shmem/lock.h"
#include "shmem/old_names.h"
#include "shmem/rma.h"
#include "shmem/signal_wait.h"
#include "shmem/team_context.h"
#include "shmem/types.h"

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmem/generic.h"
#endif

#undef PGAS_SHMEM_DECLARE
#undef PGAS_SHMEM_DECLARE_CTX
#undef PGAS_OPENSHMEM_TYPES

#include "../detail/names_end.inc"
