// The tile operations of NVSHMEM's interface, with the harness of tests/device: all operations with all groups, on
// tiles of many shapes, alignments and boundaries, in teams of several kinds. Memory outside a boundary, between rows
// and around a tile must not change. tiles.cu calls the operations by NVSHMEM's names.
#include "pgas/compat/nvshmem/tile.h"

#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;
namespace tiles = pgas::compat;

#if defined(__CUDACC__)
using half_number = __half;
using bfloat16_number = __nv_bfloat16;
#else
using half_number = float16;
using bfloat16_number = bfloat16;
#endif

enum class call { put, get, broadcast, allgather, sum, sum_two_shot, sum_rooted, min, max_rooted };
enum class caller { thread, warp, warpgroup, block };

/// A tile in a larger array with contiguous rows of elements.
struct tile_shape {
  int rows;
  int columns;
  int src_stride;
  int dst_stride;
  int first_row;  ///< the position of the tile in a matrix
  int first_column;
  int end_row;  ///< the end of the matrix
  int end_column;
  int side_by_side = 1;  ///< the number of tiles in a row of the destination of an all-gather

  [[nodiscard]] PGAS_HD int rows_inside(bool bounded) const { return part(rows, end_row - first_row, bounded); }
  [[nodiscard]] PGAS_HD int columns_inside(bool bounded) const {
    return part(columns, end_column - first_column, bounded);
  }
  [[nodiscard]] PGAS_HD static int part(int whole, int left, bool bounded) {
    return !bounded || left > whole ? whole : left < 0 ? 0 : left;
  }
};

/// The strides of a tensor. `second`: the second dimension is contiguous. `first`: the first dimension is contiguous.
/// In both cases, the compiler knows the contiguous dimension. `unbounded`: the second dimension is contiguous, but the
/// compiler does not know this, and there are no boundaries.
enum class kind { second, first, unbounded };

template <class T>
struct tile_calls {
  call what;
  caller by;
  kind tensor_kind;
  tile_shape shape;
  int root;
  test_team team;
  sym<T> dst;
  sym<T> src;
  findings found;

  /// @param f is called with a tensor of the source, a tensor of the destination, and the first coordinates and the end
  /// coordinates of the tile
  template <class F>
  PGAS_FN void with_tensors(T* from, T* to, int dst_rows, int dst_columns, F f) const {
    using namespace nvshmemx;
    const ConstInt<1> item;
    if (tensor_kind == kind::second) {
      const auto here = make_layout(make_shape(shape.rows, shape.columns), make_stride(shape.src_stride, item));
      const auto remote = make_layout(make_shape(dst_rows, dst_columns), make_stride(shape.dst_stride, item));
      f(Tensor<T, decltype(here)>(from, here), Tensor<T, decltype(remote)>(to, remote),
        make_shape(shape.first_row, shape.first_column), make_shape(shape.end_row, shape.end_column));
    } else if (tensor_kind == kind::first) {
      const auto here = make_layout(make_shape(shape.columns, shape.rows), make_stride(item, shape.src_stride));
      const auto remote = make_layout(make_shape(dst_columns, dst_rows), make_stride(item, shape.dst_stride));
      f(Tensor<T, decltype(here)>(from, here), Tensor<T, decltype(remote)>(to, remote),
        make_shape(shape.first_column, shape.first_row), make_shape(shape.end_column, shape.end_row));
    } else {
      const auto here = make_layout(make_shape(shape.rows, shape.columns), make_stride(shape.src_stride, 1));
      const auto remote = make_layout(make_shape(dst_rows, dst_columns), make_stride(shape.dst_stride, 1));
      f(Tensor<T, decltype(here)>(from, here), Tensor<T, decltype(remote)>(to, remote), make_shape(), make_shape());
    }
  }

  template <class G, class Src, class Dst, class Coord>
  PGAS_FN int make(const context& ctx, const G& g, Src from, Dst to, Coord first, Coord end) const {
    using namespace nvshmemx;
    const team_view members = team.view(ctx);
    switch (what) {
      case call::put: return tiles::tile_put<PEER_PUSH_NBI>(ctx, g, from, to, first, end, next(ctx), 0);
      case call::get: return tiles::tile_get<REMOTE_PULL_NBI>(ctx, g, from, to, first, end, next(ctx), 0);
      case call::broadcast:
        return members.my_pe() != root
                   ? 0
                   : tiles::tile_broadcast<NVLS_ONE_SHOT_PUSH_NBI>(ctx, g, members, from, to, first, end, 0);
      case call::allgather:
        return tiles::tile_allgather<NVLS_ONE_SHOT_PUSH_NBI>(ctx, g, members, from, to, first, end, 0);
      case call::sum:
        return tiles::tile_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, g, members, op::sum{}, from, to, first, end,
                                                          tiles::no_root, 0);
      case call::sum_two_shot:
        return tiles::tile_reduce<NVLS_TWO_SHOT_PUSH_NBI>(ctx, g, members, op::sum{}, from, to, first, end, root, 0);
      case call::sum_rooted:
        return tiles::tile_rooted_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, g, members, op::sum{}, from, to, first, end, root,
                                                                 0);
      case call::min:
        return tiles::tile_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, g, members, op::min{}, from, to, first, end, root, 0);
      default:
        return tiles::tile_rooted_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, g, members, op::max{}, from, to, first, end, root,
                                                                 0);
    }
  }

  PGAS_FN std::int32_t next(const context& ctx) const { return next_member(ctx); }

  template <class G>
  PGAS_FN void call_by(const context& ctx, const G& g) const {
    using namespace nvshmemx;
    const int n = what == call::allgather ? team.n : 1;
    const int across = what == call::allgather ? shape.side_by_side : 1;
    with_tensors(
        src.at(ctx), dst.at(ctx), shape.rows * n / across, shape.columns * across,
        [&](auto from, auto to, auto first, auto end) { found.equal(ctx, 1, 0, make(ctx, g, from, to, first, end)); });
    int status = 0;
    if (what == call::put || what == call::get) {
      if (g.thread_rank() == 0) quiet(ctx);
    } else if (what == call::broadcast || what == call::allgather) {
      status = tiles::tile_collective_wait<NVLS_ONE_SHOT_PUSH_NBI>(ctx, g, team.view(ctx), 0);
    } else if (what == call::sum_two_shot) {
      status = tiles::tile_collective_wait<NVLS_TWO_SHOT_PUSH_NBI>(ctx, g, team.view(ctx), 0);
    } else {
      status = tiles::tile_collective_wait<NVLS_ONE_SHOT_PULL_NBI>(ctx, g, team.view(ctx), 0);
    }
    found.equal(ctx, 2, 0, status);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (team.view(ctx).my_pe() < 0) return;
    block.sync();
    if (by == caller::thread) {
      if (block.thread_rank() == 0) call_by(ctx, this_thread{});
    } else if (by == caller::warp) {
      const warp w = this_warp(block);
      if (w.meta_group_rank() == 0) call_by(ctx, w);
    } else if (by == caller::warpgroup) {
      const warpgroup w = this_warpgroup(block);
      if (w.meta_group_rank() == 0) call_by(ctx, w);
    } else {
      call_by(ctx, block);
    }
    block.sync();
  }
};

/// Small integers, whose sums are exact in all types.
template <class T>
T element(int pe, int i) {
  return T(static_cast<float>(
      static_cast<int>(mix(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(pe)) % 17) - 8));
}

template <class T>
class tile_model {
 public:
  tile_model(const tile_calls<T>& c, const team_shape& members, std::size_t elements)
      : c_(c), members_(members.members), n_pes_(members.n_pes), untouched_(guarded<T>::untouched(elements)) {}

  [[nodiscard]] static std::vector<T> source(int pe, std::size_t elements) {
    std::vector<T> all;
    for (std::size_t i = 0; i < elements; ++i) all.push_back(element<T>(pe, static_cast<int>(i)));
    return all;
  }

  /// The destination of PE `pe` after the call.
  [[nodiscard]] std::vector<T> expected(int pe) const {
    std::vector<T> all = untouched_;
    const bool member = rank_of(pe) >= 0;
    const int root = members_[static_cast<std::size_t>(c_.root)];
    switch (c_.what) {
      case call::put:
        if (rank_of((pe + n_pes_ - 1) % n_pes_) >= 0)
          place(all, 0, [&](int i) { return at((pe + n_pes_ - 1) % n_pes_, i); });
        break;
      case call::get:
        if (member) place(all, 0, [&](int i) { return at((pe + 1) % n_pes_, i); });
        break;
      case call::broadcast:
        if (member) place(all, 0, [&](int i) { return at(root, i); });
        break;
      case call::allgather:
        if (!member) break;
        for (std::size_t k = 0; k < members_.size(); ++k)
          place(all, static_cast<int>(k), [&](int i) { return at(members_[k], i); });
        break;
      case call::sum:
      case call::sum_two_shot:
      case call::min:
        if (member) place(all, 0, [&](int i) { return combined(i); });
        break;
      default:
        if (pe == root) place(all, 0, [&](int i) { return combined(i); });
    }
    return all;
  }

 private:
  [[nodiscard]] int rank_of(int pe) const {
    for (std::size_t k = 0; k < members_.size(); ++k) {
      if (members_[k] == pe) return static_cast<int>(k);
    }
    return -1;
  }
  [[nodiscard]] float at(int pe, int i) const { return static_cast<float>(element<T>(pe, i)); }
  [[nodiscard]] float combined(int i) const {
    float all = at(members_[0], i);
    for (std::size_t k = 1; k < members_.size(); ++k) {
      const float item = at(members_[k], i);
      if (c_.what == call::min) {
        all = std::min(all, item);
      } else if (c_.what == call::max_rooted) {
        all = std::max(all, item);
      } else {
        all += item;
      }
    }
    return all;
  }
  /// Writes the source's elements that are inside the boundary to tile `k` of a destination.
  template <class F>
  void place(std::vector<T>& all, int k, F value) const {
    const tile_shape& s = c_.shape;
    const bool bounded = c_.tensor_kind != kind::unbounded;
    const int row = k / s.side_by_side * s.rows;
    const int column = k % s.side_by_side * s.columns;
    for (int r = 0; r < s.rows_inside(bounded); ++r) {
      for (int x = 0; x < s.columns_inside(bounded); ++x) {
        all[static_cast<std::size_t>((row + r) * s.dst_stride + column + x)] = T(value(r * s.src_stride + x));
      }
    }
  }

  tile_calls<T> c_;
  std::vector<std::int32_t> members_;
  int n_pes_;
  std::vector<T> untouched_;
};

std::vector<tile_shape> shapes() {
  constexpr int far = 1000;
  return {{1, 1, 1, 1, 0, 0, far, far},      {3, 5, 7, 9, 0, 0, far, far},
          {8, 64, 64, 64, 0, 0, far, far},      // contiguous
          {16, 24, 48, 40, 0, 0, far, far},     // whole words
          {6, 26, 32, 48, 0, 0, far, far},      // whole words and a remainder
          {4, 33, 33, 33, 0, 0, far, far},      // contiguous, with rows that are not whole words
          {16, 32, 32, 64, 48, 64, 60, 93},     // across both boundaries
          {16, 32, 40, 32, 0, 96, 16, 96},      // outside the first boundary
          {16, 32, 40, 32, 16, 0, 9, 32},       // outside the second boundary
          {2, 600, 608, 640, 0, 0, far, 599}};  // long rows
}

std::vector<team_shape> teams() {
  return {{"alone", 1, {0}},
          {"world of 2", 2, {0, 1}},
          {"4 in reverse order", 4, {3, 2, 1, 0}, true},
          {"3 of 4 in any order", 4, {2, 3, 0}}};
}

template <class T>
void check_tiles(call what) {
  std::uint32_t turn = 0;
  for (const team_shape& members : teams()) {
    for (tile_shape shape : shapes()) {
      ++turn;
      const int n = what == call::allgather ? static_cast<int>(members.members.size()) : 1;
      if (what == call::allgather) {
        shape.side_by_side = turn % 3 == 0 ? n : turn % 3 == 1 && n % 2 == 0 ? 2 : 1;
        shape.dst_stride *= shape.side_by_side;
      }
      const auto src_elements = static_cast<std::size_t>(shape.rows * shape.src_stride);
      const auto dst_elements = static_cast<std::size_t>(shape.rows * shape.dst_stride * n / shape.side_by_side);
      for (const kind tensors : {kind::second, kind::first, kind::unbounded}) {
        for (const caller by : {caller::thread, caller::warp, caller::warpgroup, caller::block}) {
          ++turn;
          if (asked_domain() != 0 && turn % 4 != 0) continue;  // fewer cases, because each piece of a tile is a command
          pe_set pes(members.n_pes);
          guarded<T> dst(pes, dst_elements, turn % 4 == 3 ? 1 : 0);
          guarded<T> src(pes, src_elements, turn % 8 == 7 ? 1 : turn % 8 == 5 ? 2 : 0);
          const tile_calls<T> calls{what,
                                    by,
                                    tensors,
                                    shape,
                                    static_cast<int>(turn % members.members.size()),
                                    make_team(pes, members.members, members.as_list),
                                    dst.place(),
                                    src.place(),
                                    make_findings(pes)};
          for (int pe = 0; pe < members.n_pes; ++pe) src.write(pe, tile_model<T>::source(pe, src_elements));
          pes.run(blocks()[turn % blocks().size()], calls);
          expect_nothing_found(pes, calls.found);
          const tile_model<T> model(calls, members, dst_elements);
          for (int pe = 0; pe < members.n_pes; ++pe) {
            const std::vector<T> wanted = model.expected(pe);
            const std::vector<T> seen = dst.read(pe);
            ASSERT_TRUE(same_bits(wanted, seen))
                << members.name << ", " << shape.rows << " x " << shape.columns << ", strides " << shape.src_stride
                << " and " << shape.dst_stride << ", kind " << static_cast<int>(tensors) << ", caller "
                << static_cast<int>(by) << ": PE " << pe << " differs at " << first_difference(wanted, seen);
            ASSERT_TRUE(dst.guards_hold(pe));
          }
        }
      }
    }
  }
}

template <class T>
void check_every_call() {
  for (const call what : {call::put, call::get, call::broadcast, call::allgather, call::sum, call::sum_two_shot,
                          call::sum_rooted, call::min, call::max_rooted}) {
    SCOPED_TRACE("call " + std::to_string(static_cast<int>(what)));
    check_tiles<T>(what);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(tile, of_float) { check_every_call<float>(); }
TEST(tile, of_half) { check_every_call<half_number>(); }
TEST(tile, of_bfloat16) { check_every_call<bfloat16_number>(); }

/// Tests shapes that the compiler knows, tensors with one dimension, tensors with more than two dimensions, and calls
/// that are refused.
struct other_calls {
  sym<float> dst;
  sym<float> src;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    using namespace nvshmemx;
    float* const from = src.at(ctx);
    float* const to = dst.at(ctx);
    const ConstInt<1> item;
    constexpr auto put = PEER_PUSH_NBI;
    const auto none = make_shape();
    const auto constant = make_layout(make_shape(ConstInt<2>{}, ConstInt<4>{}), make_stride(ConstInt<8>{}, item));
    using fixed = Tensor<float, std::remove_cv_t<decltype(constant)>>;
    found.equal(
        ctx, 1, 0,
        tiles::tile_put<put>(ctx, block, fixed(from, constant), fixed(to, constant), none, none, ctx.my_pe(), 0));
    const auto line = make_layout(make_shape(5), make_stride(item));
    using row = Tensor<float, std::remove_cv_t<decltype(line)>>;
    found.equal(ctx, 2, 0,
                tiles::tile_put<put>(ctx, block, row(from + 16, line), row(to + 16, line), make_shape(3), make_shape(7),
                                     ctx.my_pe(), 0));
    const auto deep = make_layout(make_shape(2, 3, 1), make_stride(3, item, 6));
    const auto deeper = make_layout(make_shape(2, 3, 2), make_stride(3, item, 6));
    using plane = Tensor<float, std::remove_cv_t<decltype(deep)>>;
    found.equal(
        ctx, 3, 0,
        tiles::tile_put<put>(ctx, block, plane(from + 32, deep), plane(to + 32, deep), none, none, ctx.my_pe(), 0));
    const int bad = NVSHMEMX_ERROR_INVALID_VALUE;
    found.equal(ctx, 4, bad,
                tiles::tile_put<put>(ctx, block, plane(from, deeper), plane(to, deeper), none, none, ctx.my_pe(), 0));
    found.equal(ctx, 5, bad, tiles::tile_put<put>(ctx, block, row(from, line), row(line), none, none, ctx.my_pe(), 0));
    found.equal(ctx, 6, bad,
                tiles::tile_put<put>(ctx, block, row(from, line), row(to, line), none, none, ctx.my_pe(), 1));
    found.equal(ctx, 7, bad,
                tiles::tile_get<put>(ctx, block, row(from, line), fixed(to, constant), none, none, ctx.my_pe(), 0));
    const auto apart = make_layout(make_shape(2, 3), make_stride(8, 2));
    using sparse = Tensor<float, std::remove_cv_t<decltype(apart)>>;
    found.equal(ctx, 8, bad,
                tiles::tile_get<put>(ctx, block, sparse(from, apart), sparse(to, apart), none, none, ctx.my_pe(), 0));
    constexpr auto two_shot = NVLS_TWO_SHOT_PUSH_NBI;
    constexpr auto pull = NVLS_ONE_SHOT_PULL_NBI;
    const team_view all = ctx.world();
    found.equal(ctx, 9, bad,
                tiles::tile_reduce<two_shot>(ctx, block, all, op::sum{}, row(from, line), row(to, line), none, none,
                                             tiles::no_root, 0));
    found.equal(ctx, 10, bad,
                tiles::tile_rooted_reduce<pull>(ctx, block, all, op::sum{}, row(from, line), row(to, line), none, none,
                                                all.n_pes(), 0));
    found.equal(ctx, 11, bad,
                tiles::tile_allgather<NVLS_ONE_SHOT_PUSH_NBI>(ctx, block, all, row(from, line), fixed(to, constant),
                                                              none, none, 0));
    found.equal(ctx, 12, bad, tiles::tile_collective_wait<pull>(ctx, block, all, 1));
  }
};

TEST(tile, other_shapes_and_bad_calls) {
  constexpr std::size_t n = 64;
  pe_set pes(2);
  guarded<float> dst(pes, n, 0);
  guarded<float> src(pes, n, 0);
  const other_calls calls{dst.place(), src.place(), make_findings(pes)};
  for (int pe = 0; pe < 2; ++pe) src.write(pe, tile_model<float>::source(pe, n));
  pes.run({1, 2}, calls);
  expect_nothing_found(pes, calls.found);
  for (int pe = 0; pe < 2; ++pe) {
    std::vector<float> wanted = guarded<float>::untouched(n);
    for (const std::size_t i : sizes{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 32, 33, 34, 35, 36, 37})
      wanted[i] = element<float>(pe, static_cast<int>(i));
    EXPECT_TRUE(same_bits(wanted, dst.read(pe))) << "PE " << pe;
  }
}

/// The source of a reduction extends beyond the heap, with checks on.
struct stray_call {
  sym<float> dst;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    using namespace nvshmemx;
    const auto line = make_layout(make_shape(1 << 28), make_stride(ConstInt<1>{}));
    using row = Tensor<float, std::remove_cv_t<decltype(line)>>;
    if (ctx.my_pe() == 0) {
      tiles::tile_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, block, ctx.world(), op::sum{}, row(dst.at(ctx), line),
                                                 row(dst.at(ctx), line), make_shape(), make_shape(), tiles::no_root, 0);
    }
  }
};

TEST(tile, outside_the_heap_is_found) {
  pe_set pes(2, {.checks = true});
  expect_caught(pes, stray_call{pes.allocate<float>(4)}, detail::operation::reduce, detail::failure::outside_heap);
}

}  // namespace
