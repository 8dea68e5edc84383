/// @file
/// The steps of joining, at which tests end or stop a PE.
#pragma once

namespace pgas::detail {

/// The function that is called at each step of joining. Tests that link the library's object files set the function
/// before they join. In other programs the pointer is null.
inline void (*at_join_step)(const char* step) = nullptr;

inline void join_step(const char* step) {
  if (at_join_step != nullptr) at_join_step(step);
}

}  // namespace pgas::detail
