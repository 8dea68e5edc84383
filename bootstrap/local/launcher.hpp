/// @file
/// Joining under pgasrun. Each process inherits one end of a socket pair; for each world that it makes, it sends
/// pgasrun one end of a fresh pair through it. So worlds share nothing but the launcher, and threads may make them at
/// once.
#pragma once

#include <memory>

#include "pgas/bootstrap.hpp"

namespace pgas::boot {

/// Joins the other processes of this pgasrun. *Errors* bootstrap_unavailable where `options.local_fd` is not its
/// socket.
[[nodiscard]] std::unique_ptr<bootstrap> join_launcher(const bootstrap_options& options);

}  // namespace pgas::boot
