// Reductions and scans: teams, scopes, counts, alignments and in-place calls, with one operation; and a program's own
// operation.
#include "reductions.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

TEST(reduce, every_team_and_scope) {
  for (const team_shape& shape : team_shapes()) {
    for (const reduction_kind what : all_reduction_kinds) {
      for (const scope who : all_scopes) {
        const auto root = static_cast<std::int32_t>(shape.members.size() - 1);
        try_reduction<op::sum, std::int32_t, true>(shape, blocks().back(), {what, 41, root, false, who}, 1, 1);
      }
    }
  }
}

TEST(reduce, every_count) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const reduction_kind what : all_reduction_kinds) {
      for (const std::size_t count : sizes{0, 1, 3, 31, 32, 33, 1024, 4099}) {
        for (const grid_shape& grid : blocks())
          try_reduction<op::sum, std::int32_t, true>(shape, grid, {what, count, 1}, count % 3, count % 3);
      }
    }
  }
}

TEST(reduce, every_alignment) {
  for (const reduction_kind what : all_reduction_kinds) {
    for (std::size_t dst_shift = 0; dst_shift < 4; ++dst_shift) {
      for (std::size_t src_shift = 0; src_shift < 4; ++src_shift)
        try_reduction<op::sum, std::int32_t, true>(few_team_shapes()[1], blocks().back(), {what, 100, 2}, dst_shift,
                                                   src_shift);
    }
  }
}

TEST(reduce, in_place) {
  for (const team_shape& shape : team_shapes()) {
    for (const reduction_kind what : all_reduction_kinds) {
      for (const grid_shape& grid : blocks())
        try_reduction<op::sum, std::int32_t, true>(shape, grid, {what, 1003, 0, true}, 3, 3);
    }
  }
}

TEST(reduce, a_mebibyte_and_3) {
  const std::size_t count = (std::size_t{1} << 18) + 3;
  for (const reduction_kind what : all_reduction_kinds) {
    try_reduction<op::sum, std::int32_t, true>({"3 in reverse order", 3, {2, 1, 0}}, blocks().back(), {what, count, 1},
                                               0, 0);
  }
}

// The teams have several members in some domains. The data is larger than the staging, so a reduction takes several
// steps.
TEST(reduce, teams_across_domains) {
  for (const team_shape& shape :
       {team_shape{"world of 5", 5, {0, 1, 2, 3, 4}}, {"interleaved", 6, {4, 0, 5, 2, 1, 3}}}) {
    for (const reduction_kind what : all_reduction_kinds) {
      for (const bool in_place : {false, true})
        try_reduction<op::sum, std::int32_t>(shape, blocks().back(), {what, 50'003, 1, in_place}, 1, 1);
    }
  }
}

// The operation is associative and not commutative, so its result shows the order. It is an ordinary function object.
TEST(reduce, library_op) { try_operation<compose, affine>(); }

}  // namespace
