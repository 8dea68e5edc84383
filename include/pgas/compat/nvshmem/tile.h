/// @file
/// NVSHMEM's tile operations as functions of a context and a group: put, get, broadcast, all-gather and reductions of
/// tiles in global memory, and the wait for the collectives. `tile_api.h` declares these functions under NVSHMEM's
/// names.
///
/// A tile is a tensor of one or two dimensions. The elements are contiguous along one dimension, which is the same in
/// source and destination. A tensor of more dimensions must have one element along the additional dimensions.
/// `first_coord` is the position of the tile in a larger matrix, and `end_coord` is the end of the matrix, both in
/// elements. Elements beyond the end are neither read nor written. With empty coordinates, all elements are read and
/// written.
///
/// *Callers* all threads of a group, with the same arguments. Collectives: all members of the team, one call at a time
/// for each team and PE.
/// *Memory* the remote side of a put or get is symmetric; so are sources of reductions, and destinations of broadcast,
/// all-gather and two-shot reductions. Tiles may have any alignment. If addresses and strides are multiples of 16
/// bytes, an access has up to 16 bytes.
/// *On return* an nvshmemx_status; the data can still be in flight. quiet(), fence() or a barrier completes put and
/// get; tile_collective_wait() completes the collectives.
/// *Order* put, get and the collectives begin with a sync of the group. Reductions begin with a barrier of the team.
/// The other collectives do not begin with a barrier: before any member makes the call, the sources must be ready and
/// the destinations must not be in use. Operands of reductions are combined in the order of the team's members; 16-bit
/// floats are combined as floats and rounded once.
/// *Errors* NVSHMEMX_ERROR_INVALID_VALUE for null addresses, shapes that do not match, tiles that are contiguous along
/// no common dimension, a `flag` other than 0, or a root that is not a member's number in the team.
#pragma once

#include "pgas/compat/nvshmem/tensor.h"
#include "pgas/compat/nvshmem/types.h"
#include "pgas/device.hpp"
#include "pgas/device/impl/reduce/strided_collective.hpp"

#if __has_include(<cuda/std/tuple>)

#if defined(CUTLASS_ENABLED)
#include <cutlass/bfloat16.h>
#include <cutlass/half.h>
#endif

namespace pgas::compat {

// ---- shapes, strides and coordinates ----

/// Element `I` of a tuple, or `beyond` if the tuple is shorter.
template <std::size_t I, class... Numbers>
[[nodiscard]] PGAS_HD constexpr std::ptrdiff_t number(const cuda::std::tuple<Numbers...>& tuple,
                                                      std::ptrdiff_t beyond) {
  if constexpr (I < sizeof...(Numbers)) {
    return static_cast<std::ptrdiff_t>(cuda::std::get<I>(tuple));
  } else {
    return beyond;
  }
}

/// The number of elements of a tensor along dimension `I`, and their stride.
template <std::size_t I, class Tile>
[[nodiscard]] PGAS_HD constexpr std::ptrdiff_t extent(const Tile& tile) {
  return number<I>(tile.shape(), 1);
}
template <std::size_t I, class Tile>
[[nodiscard]] PGAS_HD constexpr std::ptrdiff_t distance(const Tile& tile) {
  return number<I>(tile.stride(), 0);
}

/// The element type of a tensor.
template <class Tile>
[[nodiscard]] PGAS_HD constexpr std::ptrdiff_t elements(const Tile& tile) {
  static_assert(cuda::std::tuple_size<decltype(tile.shape())>::value <= 5, "tensors have at most five dimensions");
  return extent<0>(tile) * extent<1>(tile) * extent<2>(tile) * extent<3>(tile) * extent<4>(tile);
}

/// Whether compile-time constants show that elements are contiguous along dimension `I`.
template <std::size_t I, class... Numbers>
[[nodiscard]] constexpr bool known_contiguous(cuda::std::tuple<Numbers...>*) {
  if constexpr (I < sizeof...(Numbers)) {
    using each = cuda::std::tuple_element_t<I, cuda::std::tuple<Numbers...>>;
    if constexpr (cuda::std::is_empty<each>::value) return static_cast<int>(each{}) == 1;
  }
  return false;
}
template <std::size_t I, class Tile>
inline constexpr bool is_known_contiguous =
    known_contiguous<I>(static_cast<std::remove_cv_t<decltype(detail::some<Tile>().stride())>*>(nullptr));

/// Among `whole` elements along dimension `I`, the number of elements that are inside the matrix.
template <std::size_t I, class Coord>
[[nodiscard]] PGAS_HD constexpr std::ptrdiff_t inside(std::ptrdiff_t whole, const Coord& first_coord,
                                                      const Coord& end_coord) {
  static_assert(cuda::std::tuple_size<Coord>::value <= 2, "coordinates of tiles have at most two dimensions");
  if constexpr (cuda::std::is_empty<Coord>::value || I >= cuda::std::tuple_size<Coord>::value) {
    return whole;
  } else {
    const std::ptrdiff_t left = number<I>(end_coord, 0) - number<I>(first_coord, 0);
    return left <= 0 ? 0 : left < whole ? left : whole;
  }
}

/// A tile of the source and its position in the destination: rows of contiguous elements.
template <class T>
struct tile_rows {
  T* dst;
  const T* src;
  std::ptrdiff_t dst_stride;
  std::ptrdiff_t src_stride;
  std::size_t block;   ///< the elements of a row before `end_coord`
  std::size_t count;   ///< the number of rows before `end_coord`
  std::ptrdiff_t row;  ///< the distance from one row of the source to the next, in elements
  std::ptrdiff_t rows;
  std::ptrdiff_t dst_row;
  bool valid;
};

template <class Src, class Dst, class Coord>
[[nodiscard]] PGAS_FN tile_rows<typename Src::value_type> rows_of(Src src_tile, Dst dst_tile, const Coord& first_coord,
                                                                  const Coord& end_coord) {
  using T = typename Src::value_type;
  static_assert(cuda::std::is_same<T, typename Dst::value_type>::value,
                "source and destination have elements of one type");
  static_assert(is_rma_type<T>, "elements of tiles are trivially copyable");
  constexpr bool along_first = is_known_contiguous<0, Src> && is_known_contiguous<0, Dst>;
  const bool along_second = !along_first && distance<1>(src_tile) == 1 && distance<1>(dst_tile) == 1;
  const bool contiguous = along_second || (distance<0>(src_tile) == 1 && distance<0>(dst_tile) == 1);
  const std::ptrdiff_t first = extent<0>(src_tile);
  const std::ptrdiff_t second = extent<1>(src_tile);
  const std::ptrdiff_t first_inside = inside<0>(first, first_coord, end_coord);
  const std::ptrdiff_t second_inside = inside<1>(second, first_coord, end_coord);
  const bool flat = elements(src_tile) == first * second &&
                    elements(dst_tile) == extent<0>(dst_tile) * extent<1>(dst_tile) && first >= 0 && second >= 0;
  return {dst_tile.data(),
          src_tile.data(),
          along_second ? distance<0>(dst_tile) : distance<1>(dst_tile),
          along_second ? distance<0>(src_tile) : distance<1>(src_tile),
          static_cast<std::size_t>(along_second ? second_inside : first_inside),
          static_cast<std::size_t>(along_second ? first_inside : second_inside),
          along_second ? second : first,
          along_second ? first : second,
          along_second ? extent<1>(dst_tile) : extent<0>(dst_tile),
          contiguous && flat && dst_tile.data() != nullptr && src_tile.data() != nullptr};
}

/// The rows of a tile, in bytes, from `src` to `dst`.
template <class T>
[[nodiscard]] PGAS_FN detail::byte_blocks bytes_of(const tile_rows<T>& tile, T* dst, const T* src) {
  return detail::byte_blocks_of(dst, src, tile.dst_stride, tile.src_stride, tile.block, tile.count);
}

// ---- put and get ----

template <nvshmemx::tile_algo_t Algorithm>
PGAS_FN constexpr void take_algorithm() {
  static_assert(Algorithm == nvshmemx::PEER_PUSH_NBI || Algorithm == nvshmemx::REMOTE_PUSH_NBI,
                "tile_put takes PEER_PUSH_NBI and REMOTE_PUSH_NBI, tile_get PEER_PULL_NBI and REMOTE_PULL_NBI");
}

/// Writes a tile of this PE to PE `pe`.
template <nvshmemx::tile_algo_t Algorithm, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_put(const context& ctx, const G& g, Src src_tile, Dst dst_tile, const Coord& first_coord,
                     const Coord& end_coord, int pe, std::uint64_t flag) {
  take_algorithm<Algorithm>();
  const auto tile = rows_of(src_tile, dst_tile, first_coord, end_coord);
  if (!tile.valid || flag != 0 || elements(src_tile) != elements(dst_tile)) return NVSHMEMX_ERROR_INVALID_VALUE;
  using T = typename Src::value_type;
  detail::put_strided_by_route<detail::completion::submitted>(
      ctx, g, tile.dst, tile.src, tile.dst_stride, tile.src_stride, tile.block, tile.count, pe, [=](T* remote) {
        const detail::byte_blocks blocks = bytes_of(tile, remote, tile.src);
        detail::copy_by_largest_units<detail::direction::put, detail::unit_of<T>>(&blocks, detail::slice_of(g));
      });
  g.sync();  // a quiet by any thread of the group completes the put
  return NVSHMEMX_SUCCESS;
}

/// Reads a tile of PE `pe`.
template <nvshmemx::tile_algo_t Algorithm, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_get(const context& ctx, const G& g, Src src_tile, Dst dst_tile, const Coord& first_coord,
                     const Coord& end_coord, int pe, std::uint64_t flag) {
  take_algorithm<Algorithm>();
  const auto tile = rows_of(src_tile, dst_tile, first_coord, end_coord);
  if (!tile.valid || flag != 0 || elements(src_tile) != elements(dst_tile)) return NVSHMEMX_ERROR_INVALID_VALUE;
  using T = typename Src::value_type;
  detail::get_strided_by_route<detail::completion::submitted>(
      ctx, g, tile.dst, tile.src, tile.dst_stride, tile.src_stride, tile.block, tile.count, pe, [=](const T* remote) {
        const detail::byte_blocks blocks = bytes_of(tile, tile.dst, remote);
        detail::copy_by_largest_units<detail::direction::get, detail::unit_of<T>>(&blocks, detail::slice_of(g));
      });
  g.sync();
  return NVSHMEMX_SUCCESS;
}

// ---- collectives ----

/// With checks on, ends the thread unless this PE is a member and the symmetric side of a tile is inside the heap.
template <class T>
PGAS_FN void check_tile(const context& ctx, const team_view& team, detail::operation what, const T* symmetric,
                        std::ptrdiff_t distance, const tile_rows<T>& tile) {
  if (ctx.checks()) PGAS_UNLIKELY {
    detail::check_member(ctx.copy_, team, what);
    detail::check_strided(ctx, what, symmetric, distance, tile.block, tile.count, ctx.my_pe());
  }
}

/// Stores a tile of this PE at every member.
template <class T, PGAS_IS(group) G>
PGAS_FN int push_tile(const context& ctx, const G& g, const team_view& team, detail::operation what,
                      const tile_rows<T>& tile) {
  detail::traced_operation traced(ctx, g, what);
  check_tile(ctx, team, what, static_cast<const T*>(tile.dst), tile.dst_stride, tile);
  g.sync();  // so that the put sends what all threads of the group have stored in the tile
  detail::put_blocks_to_all<T>(ctx, g, team, bytes_of(tile, tile.dst, tile.src));
  return NVSHMEMX_SUCCESS;
}

/// Writes this PE's tile to all members, including itself. One member calls this function. After that call, all members
/// call tile_collective_wait().
template <nvshmemx::tile_coll_algo_t Algorithm, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_broadcast(const context& ctx, const G& g, const team_view& team, Src src_tile, Dst dst_tile,
                           const Coord& first_coord, const Coord& end_coord, std::uint64_t flag) {
  static_assert(Algorithm == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI,
                "tile_broadcast takes NVLS_ONE_SHOT_PUSH_NBI: the others need multicast memory, which pgas has not");
  const auto tile = rows_of(src_tile, dst_tile, first_coord, end_coord);
  if (!tile.valid || flag != 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  return push_tile(ctx, g, team, detail::operation::broadcast, tile);
}

/// Writes this PE's tile to its position on all members. The destination contains the members' tiles in order. Along
/// the contiguous dimension, as many tiles as fit are side by side.
template <nvshmemx::tile_coll_algo_t Algorithm, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_allgather(const context& ctx, const G& g, const team_view& team, Src src_tile, Dst dst_tile,
                           const Coord& first_coord, const Coord& end_coord, std::uint64_t flag) {
  static_assert(Algorithm == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI,
                "tile_allgather takes NVLS_ONE_SHOT_PUSH_NBI: the others need multicast memory, which pgas has not");
  auto tile = rows_of(src_tile, dst_tile, first_coord, end_coord);
  if (!tile.valid || flag != 0 || elements(src_tile) * team.n_pes() != elements(dst_tile) || tile.row == 0 ||
      tile.dst_row % tile.row != 0) {
    return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  const std::ptrdiff_t before = team.my_pe() * tile.row;
  tile.dst += before % tile.dst_row + before / tile.dst_row * tile.rows * tile.dst_stride;
  return push_tile(ctx, g, team, detail::operation::fcollect, tile);
}

/// The numeric type that a reduction uses for the elements.
template <class T>
struct element_number {
  using type = T;
};
#if defined(CUTLASS_ENABLED)
template <>
struct element_number<cutlass::half_t> {
  using type = __half;
};
template <>
struct element_number<cutlass::bfloat16_t> {
  using type = __nv_bfloat16;
};
#endif

/// The value of `root` for a reduction without a root.
inline constexpr int no_root = -1;

/// Combines the members' tiles. @param root the member that combines the tiles, or no_root if each member combines the
/// tiles for itself
/// @param to_all whether the results go to all members, or only to the member that computes them
template <class Op, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int reduce_tiles(const context& ctx, const G& g, const team_view& team, Op op, Src src_tile, Dst dst_tile,
                         const Coord& first_coord, const Coord& end_coord, int root, bool to_all, std::uint64_t flag) {
  using T = typename element_number<typename Src::value_type>::type;
  static_assert(is_reduce_op<Op, T>, "tile reductions take half, bfloat16, float, double and integers");
  static_assert(cuda::std::is_same<decltype(src_tile.shape()), decltype(dst_tile.shape())>::value,
                "source and destination of a tile reduction have the same shape");
  const auto tile = rows_of(src_tile, dst_tile, first_coord, end_coord);
  if (!tile.valid || flag != 0 || elements(src_tile) != elements(dst_tile)) return NVSHMEMX_ERROR_INVALID_VALUE;
  check_tile(ctx, team, detail::operation::reduce, tile.src, tile.src_stride, tile);
  if (to_all) check_tile(ctx, team, detail::operation::reduce, tile.dst, tile.dst_stride, tile);
  // The description of the work is in memory, because it would occupy registers during the barrier.
  detail::strided_reduce_job job{bytes_of(tile, tile.dst, tile.src), team.n_pes(), to_all ? 0 : team.my_pe(),
                                 to_all ? team.n_pes() : team.my_pe() + 1};
  barrier(ctx, g, team);
  if (root != no_root && root != team.my_pe()) return NVSHMEMX_SUCCESS;
  detail::traced_operation traced(ctx, g, detail::operation::reduce);
  detail::reduce_blocks<T>(ctx, g, team, &job, op);
  return NVSHMEMX_SUCCESS;
}

/// Combines the members' tiles for all members. With a one-shot algorithm each member combines the tiles for itself.
/// With a two-shot algorithm member `root` combines the tiles for all members.
template <nvshmemx::tile_coll_algo_t Algorithm, class Op, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_reduce(const context& ctx, const G& g, const team_view& team, Op op, Src src_tile, Dst dst_tile,
                        const Coord& first_coord, const Coord& end_coord, int root, std::uint64_t flag) {
  static_assert(Algorithm == nvshmemx::NVLS_ONE_SHOT_PULL_NBI || Algorithm == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI,
                "tile reductions take NVLS_ONE_SHOT_PULL_NBI and NVLS_TWO_SHOT_PUSH_NBI: the others need multicast "
                "memory, which pgas has not");
  constexpr bool two_shot = Algorithm == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;
  if (two_shot && (root < 0 || root >= team.n_pes())) return NVSHMEMX_ERROR_INVALID_VALUE;
  return reduce_tiles(ctx, g, team, op, src_tile, dst_tile, first_coord, end_coord, two_shot ? root : no_root, two_shot,
                      flag);
}

/// Combines the members' tiles for member `root`. Only the destination of `root` is written.
template <nvshmemx::tile_coll_algo_t Algorithm, class Op, PGAS_IS(group) G, class Src, class Dst, class Coord>
PGAS_FN int tile_rooted_reduce(const context& ctx, const G& g, const team_view& team, Op op, Src src_tile, Dst dst_tile,
                               const Coord& first_coord, const Coord& end_coord, int root, std::uint64_t flag) {
  static_assert(Algorithm == nvshmemx::NVLS_ONE_SHOT_PULL_NBI,
                "rooted tile reductions take NVLS_ONE_SHOT_PULL_NBI: the others need multicast memory, which pgas has "
                "not");
  if (root < 0 || root >= team.n_pes()) return NVSHMEMX_ERROR_INVALID_VALUE;
  return reduce_tiles(ctx, g, team, op, src_tile, dst_tile, first_coord, end_coord, root, false, flag);
}

/// Completes earlier tile collectives with this algorithm. Push algorithms: a barrier of the team, after which all
/// members' results are complete. Pull algorithms: this PE's results are complete, for all its threads.
template <nvshmemx::tile_coll_algo_t Algorithm, PGAS_IS(group) G>
PGAS_FN int tile_collective_wait(const context& ctx, const G& g, const team_view& team, std::uint64_t flag) {
  static_assert(Algorithm == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI || Algorithm == nvshmemx::NVLS_ONE_SHOT_PULL_NBI ||
                    Algorithm == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI,
                "no collective of tiles takes NVLS_TWO_SHOT_PULL_NBI: it needs multicast memory, which pgas has not");
  if (flag != 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  if constexpr (Algorithm == nvshmemx::NVLS_ONE_SHOT_PULL_NBI) {
    fence(ctx, g);
  } else {
    barrier(ctx, g, team);
  }
  return NVSHMEMX_SUCCESS;
}

}  // namespace pgas::compat

#endif
