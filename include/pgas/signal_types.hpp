/// @file
/// Comparisons of waits, updates of signals, and the type of a signal word. For host and device.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"

namespace pgas {

/// @brief The comparison of a wait or a test: `seen cmp value`.
enum class cmp : std::int32_t { eq = 0, ne = 1, gt = 2, le = 3, lt = 4, ge = 5 };

/// @brief The update of the signal word by put_signal after the data has arrived.
enum class signal_op : std::int32_t { set = 9, add = 10 };

/// @brief The type of a signal word in the symmetric heap.
using signal_t = std::uint64_t;

namespace detail {

/// Whether `seen op value` holds. Waits and tests of host and device use this function.
template <class T>
[[nodiscard]] PGAS_HD constexpr bool compare(T seen, cmp op, T value) {
  switch (op) {
    case cmp::eq: return seen == value;
    case cmp::ne: return seen != value;
    case cmp::gt: return seen > value;
    case cmp::le: return seen <= value;
    case cmp::lt: return seen < value;
    case cmp::ge: return seen >= value;
  }
  return false;
}

}  // namespace detail
}  // namespace pgas

#include "pgas/detail/names_end.inc"
