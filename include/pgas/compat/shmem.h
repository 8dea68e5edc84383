/// @file
/// OpenSHMEM 1.5 for C and C++ on top of pgas: <shmem.h>. The header has the whole interface, including the parts of
/// 1.4 that 1.5 deprecates, and the parts of 1.6 that pgas supports. Compile and link with pgas-cc or pgas-c++, or with
/// the flags of pgas-shmem.pc.
///
/// *Errors* on failure, functions that return a status return nonzero, and functions that return a pointer return null.
/// All other functions log the failure with their name and end the processes of all PEs with status 1, as
/// shmem_global_exit() does.
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
