/// @file
/// Includes all headers for the host: worlds, the symmetric heap, host-called and stream-ordered operations, launch().
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/bootstrap.hpp"          // IWYU pragma: export
#include "pgas/collective.hpp"         // IWYU pragma: export
#include "pgas/config.hpp"             // IWYU pragma: export
#include "pgas/error.hpp"              // IWYU pragma: export
#include "pgas/launch.hpp"             // IWYU pragma: export
#include "pgas/lock.hpp"               // IWYU pragma: export
#include "pgas/registration.hpp"       // IWYU pragma: export
#include "pgas/rma.hpp"                // IWYU pragma: export
#include "pgas/signal.hpp"             // IWYU pragma: export
#include "pgas/signal_types.hpp"       // IWYU pragma: export
#include "pgas/stream.hpp"             // IWYU pragma: export
#include "pgas/stream_atomic.hpp"      // IWYU pragma: export
#include "pgas/stream_rma.hpp"         // IWYU pragma: export
#include "pgas/stream_signal.hpp"      // IWYU pragma: export
#include "pgas/stream_wait.hpp"        // IWYU pragma: export
#include "pgas/symmetric_memory.hpp"   // IWYU pragma: export
#include "pgas/team.hpp"               // IWYU pragma: export
#include "pgas/type_requirements.hpp"  // IWYU pragma: export
#include "pgas/wait.hpp"               // IWYU pragma: export
#include "pgas/window.hpp"             // IWYU pragma: export
#include "pgas/world.hpp"              // IWYU pragma: export
#include "pgas/world_stats.hpp"        // IWYU pragma: export

#include "pgas/detail/names_end.inc"
