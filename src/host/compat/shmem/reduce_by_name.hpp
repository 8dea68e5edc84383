/// @file
/// Reductions of shmem.h by the names of its operations, for all of its types: pgas reduces no long double.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "host/compat/shmem/shmem_library.hpp"
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

/// Collective over `of`: combines the elements of members 0 to end - 1 in their order into this member's `dst`; zeros
/// where `end` is 0. In place: `dst == src`. Each member gets the elements of the others between two barriers.
template <class Op>
void host_reduce(class world& w, const team& of, long double* dst, const long double* src, std::size_t count, int end,
                 Op op) {
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

/// The operations by their names in OpenSHMEM, and their forms for long double.
struct reduce_and {
  using type = op::bit_and;
};
struct reduce_or {
  using type = op::bit_or;
};
struct reduce_xor {
  using type = op::bit_xor;
};
struct reduce_min {
  using type = op::min;
  using of_long_double = long_double_min;
};
struct reduce_max {
  using type = op::max;
  using of_long_double = long_double_max;
};
struct reduce_sum {
  using type = op::sum;
  using of_long_double = long_double_sum;
};
struct reduce_prod {
  using type = op::prod;
  using of_long_double = long_double_product;
};

template <class Op, class T>
void reduce_to_all(const team& of, T* dest, const T* source, std::size_t count) {
  if constexpr (std::is_same_v<T, long double>)
    host_reduce(library().world(), of, symmetric(dest), symmetric(source), count, of.n_pes(),
                typename Op::of_long_double{});
  else
    reduce(of, symmetric(dest), symmetric(source), count, typename Op::type{});
}

}  // namespace pgas::compat
