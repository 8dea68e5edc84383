/// @file
/// All device operations, for kernels. The operations are header-only. At run time, the only input that the operations
/// need from the library is the pgas::context. `device/MEMORY_MODEL.md` holds the memory model.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/atomic.hpp"
#include "pgas/device/barrier.hpp"
#include "pgas/device/bulk.hpp"
#include "pgas/device/collective.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/direct_context.hpp"
#include "pgas/device/fence_quiet.hpp"
#include "pgas/device/grid.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/launch_order.hpp"
#include "pgas/device/list.hpp"
#include "pgas/device/ll_channel.hpp"
#include "pgas/device/lock.hpp"
#include "pgas/device/mbarrier.hpp"
#include "pgas/device/packet_channel.hpp"
#include "pgas/device/reduce.hpp"
#include "pgas/device/reduce_op.hpp"
#include "pgas/device/rma.hpp"
#include "pgas/device/scan.hpp"
#include "pgas/device/signal.hpp"
#include "pgas/device/strided.hpp"
#include "pgas/device/wait.hpp"
#include "pgas/device/window.hpp"

#include "pgas/detail/names_end.inc"
