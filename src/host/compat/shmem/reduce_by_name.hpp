/// @file
/// Defines the reductions of shmem.h for all element types of shmem.h, from the names of the operations.
#pragma once

#include <cstddef>
#include <type_traits>

#include "host/compat/shmem/reduce_long_double.hpp"
#include "host/compat/shmem/shmem_library.hpp"
#include "pgas/collective.hpp"

namespace pgas::compat {

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
void reduce_to_all(const team& members, T* dest, const T* source, std::size_t count) {
  if constexpr (std::is_same_v<T, long double>)
    reduce_long_double(library().world(), members, symmetric(dest), symmetric(source), count, members.n_pes(),
                       typename Op::of_long_double{});
  else
    reduce(members, symmetric(dest), symmetric(source), count, typename Op::type{});
}

}  // namespace pgas::compat
