/// @file
/// What a hub knows of one member of its world.
#pragma once

#include <cstddef>
#include <deque>

#include "bootstrap/hub/frame.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

struct member {
  enum class state { absent, present, left, lost };

  unique_fd socket;
  state where = state::absent;
  bool arrived = false;  ///< its part of the present collective is here
  blob contribution;
  frame_reader incoming{most_contributed};
  std::deque<shared_frame> outgoing;
  std::size_t sent = 0;  ///< bytes of outgoing.front() that are already on their way
};

/// What the error messages call a collective.
[[nodiscard]] constexpr const char* name_of(collective what) {
  switch (what) {
    case collective::join: return "join the world";
    case collective::all_gather: return "an all-gather";
    case collective::barrier: return "a barrier";
  }
  return "an unknown collective";
}

}  // namespace pgas::boot
