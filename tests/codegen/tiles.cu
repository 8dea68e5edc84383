// The registers of kernels that call NVSHMEM's tile operations in loops, as GEMMs do. 64 registers allow blocks of 1024
// threads. Unless PGAS_NVSHMEM_DIRECT is set, two reductions take more registers because of proxied PEs, and need
// __launch_bounds__(1024). check.py describes the form of the expectations.
#include <pgas/compat/nvshmem.h>
#include <pgas/compat/nvshmemx.h>

namespace {

using layout = nvshmemx::Layout<nvshmemx::shape<int, int>, nvshmemx::stride<int, ConstInt<1>>>;
using coord = nvshmemx::shape<int, int>;
template <class T>
using tensor = nvshmemx::Tensor<T, layout>;

struct matrix {
  int rows;
  int columns;
  int tile_rows;
  int tile_columns;

  template <class T>
  __device__ tensor<T> tile(T* first, int i) const {
    return {first + i * tile_rows * columns,
            layout(nvshmemx::make_shape(tile_rows, tile_columns), nvshmemx::make_stride(columns, ConstInt<1>{}))};
  }
  __device__ coord start(int i) const { return {i * tile_rows, 0}; }
  __device__ coord end() const { return {rows, columns}; }
};

constexpr auto one_shot = nvshmemx::NVLS_ONE_SHOT_PULL_NBI;
constexpr auto two_shot = nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;
constexpr auto push = nvshmemx::NVLS_ONE_SHOT_PUSH_NBI;

}  // namespace

extern "C" {

//  registers 48
__global__ void tile_put_block_loop(matrix tiles, float* dst, float* src, int n, int pe) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_put_block<tensor<float>, tensor<float>, coord, nvshmemx::PEER_PUSH_NBI>(
        tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), pe, 0);
}

//  registers 64
__global__ void tile_get_warpgroup_loop(matrix tiles, half* dst, half* src, int n, int pe) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_get_warpgroup<tensor<half>, tensor<half>, coord, nvshmemx::PEER_PULL_NBI>(
        tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), pe, 0);
}

//  registers 64
__global__ void tile_put_thread_loop(matrix tiles, float* dst, float* src, int n, int pe) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_put<tensor<float>, tensor<float>, coord, nvshmemx::PEER_PUSH_NBI>(
        tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), pe, 0);
}

//  registers 64
__global__ void tile_broadcast_loop(matrix tiles, half* dst, half* src, int n, nvshmem_team_t team) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_broadcast_block<tensor<half>, tensor<half>, coord, push>(
        team, tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), 0);
}

//  registers 64
__global__ void tile_allgather_loop(matrix tiles, float* dst, float* src, int n, nvshmem_team_t team) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_allgather_block<tensor<float>, tensor<float>, coord, push>(
        team, tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), 0);
}

//  registers 64
__global__ void tile_sum_float_loop(matrix tiles, float* dst, float* src, int n, nvshmem_team_t team) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_sum_reduce_block<tensor<float>, tensor<float>, coord, one_shot>(
        team, tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), 0);
}

//  registers 72
__global__ void tile_sum_half_two_shot_loop(matrix tiles, half* dst, half* src, int n, nvshmem_team_t team) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_sum_reduce_block<tensor<half>, tensor<half>, coord, two_shot>(
        team, tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), i, 0);
}

//  registers 66
__global__ void tile_max_bfloat16_rooted_loop(matrix tiles, __nv_bfloat16* dst, __nv_bfloat16* src, int n,
                                              nvshmem_team_t team) {
  for (int i = 0; i < n; ++i)
    nvshmemx::tile_max_rooted_reduce_block<tensor<__nv_bfloat16>, tensor<__nv_bfloat16>, coord, one_shot>(
        team, tiles.tile(src, i), tiles.tile(dst, i), tiles.start(i), tiles.end(), i, 0);
}

//  registers 64
__global__ void tile_wait_loop(int n, nvshmem_team_t team) {
  for (int i = 0; i < n; ++i) nvshmemx::tile_collective_wait_block<push>(team, 0);
}

}  // extern "C"
