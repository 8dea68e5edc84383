// How a PE ends its world for all, and what it says then.
#include <fmt/format.h>
#include <unistd.h>

#include "host/world/world_state.hpp"

namespace pgas::detail {

void world_state::check_process() const {
  if (forked())
    throw error(
        code::forked_process,
        fmt::format(
            "this is process {}, a forked child; the world belongs to process {}: join a world of its own, or exec",
            ::getpid(), process_.pid()));
}

}  // namespace pgas::detail
