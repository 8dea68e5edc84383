/// @file
/// The steps of joining, at which tests end or stop a PE.
#pragma once

namespace pgas::detail {

/// Called at each step of joining. Set by tests that link the library's objects, before they join; null everywhere
/// else.
inline void (*at_join_step)(const char* step) = nullptr;

inline void join_step(const char* step) {
  if (at_join_step != nullptr) at_join_step(step);
}

}  // namespace pgas::detail
