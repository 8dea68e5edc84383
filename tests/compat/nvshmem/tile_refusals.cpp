// Calls of the tile operations that are refused at compile time, one for each CASE. CASE 0 compiles.
#include "pgas/compat/nvshmem/tile.h"

namespace {

using namespace nvshmemx;

template <class T, int Columns>
auto tensor(T* first) {
  const auto layout = make_layout(make_shape(2, ConstInt<Columns>{}), make_stride(8, ConstInt<1>{}));
  return Tensor<T, std::remove_cv_t<decltype(layout)>>(first, layout);
}

[[maybe_unused]] int call(const pgas::context& ctx, float* dst, float* src) {
  [[maybe_unused]] const pgas::this_thread me;
  [[maybe_unused]] const pgas::team_view all = ctx.world();
  [[maybe_unused]] const pgas::op::sum sum;
  const auto from = tensor<float, 4>(src);
  const auto to = tensor<float, 4>(dst);
  const auto none = make_shape();
  using namespace pgas::compat;
#if CASE == 0
  return tile_put<REMOTE_PUSH_NBI>(ctx, me, from, to, none, none, 0, 0) +
         tile_reduce<NVLS_TWO_SHOT_PUSH_NBI>(ctx, me, all, sum, from, to, none, none, 0, 0);
#elif CASE == 1
  return tile_reduce<NVLS_ONE_SHOT_PUSH_NBI>(ctx, me, all, sum, from, to, none, none, 0, 0);
#elif CASE == 2
  return tile_reduce<NVLS_TWO_SHOT_PULL_NBI>(ctx, me, all, sum, from, to, none, none, 0, 0);
#elif CASE == 3
  return tile_rooted_reduce<NVLS_TWO_SHOT_PUSH_NBI>(ctx, me, all, sum, from, to, none, none, 0, 0);
#elif CASE == 4
  return tile_broadcast<NVLS_TWO_SHOT_PUSH_NBI>(ctx, me, all, from, to, none, none, 0);
#elif CASE == 5
  return tile_allgather<NVLS_ONE_SHOT_PULL_NBI>(ctx, me, all, from, to, none, none, 0);
#elif CASE == 6
  return tile_collective_wait<NVLS_TWO_SHOT_PULL_NBI>(ctx, me, all, 0);
#elif CASE == 7
  return tile_put<NVSHMEMI_TILE_ALGO_SENTINEL>(ctx, me, from, to, none, none, 0, 0);
#elif CASE == 8
  return tile_put<PEER_PUSH_NBI>(ctx, me, from, tensor<int, 4>(nullptr), none, none, 0, 0);
#else
  return tile_reduce<NVLS_ONE_SHOT_PULL_NBI>(ctx, me, all, sum, from, tensor<float, 5>(dst), none, none, 0, 0);
#endif
}

}  // namespace
