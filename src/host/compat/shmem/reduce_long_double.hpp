/// @file
/// Reductions of long double, a type that shmem.h has and pgas does not reduce.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "pgas/collective.hpp"
#include "pgas/rma.hpp"

namespace pgas::compat {

/// The operations of pgas::op on long double.
struct long_double_sum {
  long double operator()(long double a, long double b) const { return a + b; }
};
struct long_double_product {
  long double operator()(long double a, long double b) const { return a * b; }
};
struct long_double_min {
  long double operator()(long double a, long double b) const { return b < a || b != b ? b : a; }
};
struct long_double_max {
  long double operator()(long double a, long double b) const { return a < b || b != b ? b : a; }
};

/// Combines the elements of members 0 to end - 1 in their order into this member's `dst`. If `end` is 0, the result is
/// zeros. Collective over `of`. In place if `dst == src`. Between two barriers, each member reads the elements of the
/// other members by get.
template <class Op>
void reduce_long_double(class world& w, const team& members, long double* dst, const long double* src,
                        std::size_t count, int end, Op op) {
  const std::size_t bytes = detail::byte_count(count, sizeof(long double));
  if (!w.accessible(src, w.my_pe()) || bytes > w.layout().stride)
    throw error(code::outside_heap,
                fmt::format("reduce: {} elements of long double at {} are not all in the heap: pass "
                            "memory that came from shmem_malloc, and check the count",
                            count, fmt::ptr(src)));
  std::vector<long double> result(count);
  std::vector<long double> theirs(count);
  barrier(members);
  for (int pe = 0; pe < end; ++pe) {
    get(w, (pe == 0 ? result : theirs).data(), src, count, members.world_pe(pe));
    for (std::size_t i = 0; pe > 0 && i < count; ++i) result[i] = op(result[i], theirs[i]);
  }
  barrier(members);
  put(w, dst, result.data(), count, w.my_pe());
}

}  // namespace pgas::compat
