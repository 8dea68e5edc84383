/// @file
/// Reductions of types that the library's own reductions do not have: long double.
#pragma once

#include <cstddef>
#include <vector>

#include "pgas/collective.hpp"
#include "pgas/rma.hpp"

namespace pgas::capi {

/// The operations of pgas::op on long double.
struct sum_of {
  long double operator()(long double a, long double b) const { return a + b; }
};
struct product_of {
  long double operator()(long double a, long double b) const { return a * b; }
};
struct smaller_of {
  long double operator()(long double a, long double b) const { return b < a || b != b ? b : a; }
};
struct larger_of {
  long double operator()(long double a, long double b) const { return a < b || b != b ? b : a; }
};

/// Collective over `of`: this member's `dst` becomes the elements of members 0 to end - 1 combined in their order,
/// zeros where there are none. In place: `dst == src`. Every member reads what it needs, which takes two meetings.
template <class Op>
void fold(world& w, const team& of, long double* dst, const long double* src, std::size_t count, int end, Op op) {
  std::vector<long double> result(count);
  std::vector<long double> theirs(count);
  barrier(of);
  for (int pe = 0; pe < end; ++pe) {
    get(w, (pe == 0 ? result : theirs).data(), src, count, of.world_pe(pe));
    for (std::size_t i = 0; pe > 0 && i < count; ++i) result[i] = op(result[i], theirs[i]);
  }
  barrier(of);
  put(w, dst, result.data(), count, w.my_pe());
}

}  // namespace pgas::capi
