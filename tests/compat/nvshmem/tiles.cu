// NVSHMEM's tile operations by their own names, called by threads, warps, warpgroups and blocks on GPUs. tile_test.cpp
// tests shapes, alignments and boundaries. NVIDIA's library is not tested with this file, because that library needs
// multicast memory for these operations.
#include <cstdio>

#include "bench.hpp"

#if defined(PGAS_COMPAT_ONLY)

namespace conformance {

namespace {

constexpr int rows = 12;
constexpr int columns = 40;
constexpr int stride = 48;
constexpr int last_row = 11;  ///< a boundary
constexpr int area = rows * stride;

using tile_layout = nvshmemx::Layout<nvshmemx::shape<int, int>, nvshmemx::stride<ConstInt<stride>, ConstInt<1>>>;
using coord = nvshmemx::shape<int, int>;
template <class T>
using tensor = nvshmemx::Tensor<T, tile_layout>;

template <class T>
__device__ tensor<T> tile(void* first, int index, int tiles = 1) {
  return {static_cast<T*>(first) + index * area, tile_layout(nvshmemx::make_shape(rows * tiles, int{columns}),
                                                             nvshmemx::make_stride(ConstInt<stride>{}, ConstInt<1>{}))};
}

// One kernel for each scope. Tile 0 of the destination is the result of a put, tile 1 of a get, tile 2 of a broadcast
// by PE 0, tiles 3 to 8 of reductions, and the tiles from 9 on of an all-gather.
#define TILE_CALLS(SCOPE, CALLERS)                                                                                   \
  template <class T>                                                                                                 \
  __global__ void tile_calls##SCOPE(call c) {                                                                        \
    using namespace nvshmemx;                                                                                        \
    using t = tensor<T>;                                                                                             \
    constexpr auto push = tile_coll_algo_t::NVLS_ONE_SHOT_PUSH_NBI;                                                  \
    constexpr auto pull = tile_coll_algo_t::NVLS_ONE_SHOT_PULL_NBI;                                                  \
    constexpr auto two = tile_coll_algo_t::NVLS_TWO_SHOT_PUSH_NBI;                                                   \
    if (threadIdx.x >= CALLERS) return;                                                                              \
    const t from = tile<T>(const_cast<void*>(c.source), 0);                                                          \
    const auto to = [&](int i) { return tile<T>(c.dest, i); };                                                       \
    const coord start = make_shape(0, 0);                                                                            \
    const coord end = make_shape(int{last_row}, int{columns});                                                       \
    const int last = nvshmem_n_pes() - 1;                                                                            \
    int wrong = 0;                                                                                                   \
    wrong |= tile_put##SCOPE<t, t, coord, tile_algo_t::PEER_PUSH_NBI>(from, to(0), start, end, c.pe, 0);             \
    wrong |= tile_get##SCOPE<t, t, coord, tile_algo_t::REMOTE_PULL_NBI>(from, to(1), start, end, c.pe, 0);           \
    if (nvshmem_my_pe() == 0) wrong |= tile_broadcast##SCOPE<t, t, coord, push>(c.team, from, to(2), start, end, 0); \
    wrong |= tile_sum_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(3), start, end, 0);                          \
    wrong |= tile_sum_reduce##SCOPE<t, t, coord, two>(c.team, from, to(4), start, end, last, 0);                     \
    wrong |= tile_min_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(5), start, end, 0);                          \
    wrong |= tile_max_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(6), start, end, 0, 0);                       \
    wrong |= tile_sum_rooted_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(7), start, end, last, 0);             \
    wrong |= tile_min_rooted_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(8), start, end, last, 0);             \
    wrong |= tile_max_rooted_reduce##SCOPE<t, t, coord, pull>(c.team, from, to(8), start, end, last, 0);             \
    wrong |= tile_allgather##SCOPE<t, t, coord, push>(c.team, from, tile<T>(c.dest, 9, last + 1), start, end, 0);    \
    wrong |= tile_collective_wait##SCOPE<pull>(c.team, 0);                                                           \
    wrong |= tile_collective_wait##SCOPE<two>(c.team, 0);                                                            \
    wrong |= tile_collective_wait##SCOPE<push>(c.team, 0);                                                           \
    if (tile_collective_wait##SCOPE<push>(NVSHMEM_TEAM_INVALID, 0) != NVSHMEMX_ERROR_INVALID_VALUE) wrong |= 1;      \
    if (threadIdx.x == 0) *c.result = static_cast<std::uint64_t>(wrong);                                             \
  }

TILE_CALLS(, 1)
TILE_CALLS(_warp, 32)
TILE_CALLS(_warpgroup, 128)
TILE_CALLS(_block, 256)
#undef TILE_CALLS

/// An integer that depends on PE `pe`. All types represent the sums exactly.
float element(int pe, int i) { return static_cast<float>((i * 7 + pe * 3) % 11 - 5); }

template <class T>
void check_tiles_of(bench& b, const char* name, int& failures) {
  struct variant {
    const char* scope;
    const void* kernel;
  };
  const variant variants[] = {{"thread", reinterpret_cast<const void*>(&tile_calls<T>)},
                              {"warp", reinterpret_cast<const void*>(&tile_calls_warp<T>)},
                              {"warpgroup", reinterpret_cast<const void*>(&tile_calls_warpgroup<T>)},
                              {"block", reinterpret_cast<const void*>(&tile_calls_block<T>)}};
  for (const variant& each : variants) {
    std::vector<T> out;
    for (int i = 0; i < area; ++i) out.push_back(T(element(b.me, i)));
    const std::vector<unsigned char> zeros(bench::bytes);
    b.write(b.source, out.data(), out.size() * sizeof(T));
    b.write(b.dest, zeros.data(), zeros.size());
    call c = b.prepare(function{"", 8, kind::uint});
    c.team = NVSHMEM_TEAM_WORLD;
    c.pe = b.right();
    *c.result = 1;
    b.barrier();
    launch(each.kernel, c, 256);
    b.barrier();
    const auto bytes = b.read(b.dest, static_cast<std::size_t>(9 + b.n) * area * sizeof(T));
    std::vector<T> in(bytes.size() / sizeof(T));
    std::memcpy(static_cast<void*>(in.data()), bytes.data(), bytes.size());
    bool right = *c.result == 0;
    for (int i = 0; i < area; ++i) {
      const bool inside = i / stride < last_row && i % stride < columns;
      float sum = 0;
      float least = element(0, i);
      float most = least;
      for (int pe = 0; pe < b.n; ++pe) {
        sum += element(pe, i);
        least = element(pe, i) < least ? element(pe, i) : least;
        most = element(pe, i) > most ? element(pe, i) : most;
      }
      const bool root = b.me == b.n - 1;
      const float wanted[] = {element(b.left(), i), element(b.right(), i), element(0, i), sum, sum, least, most,
                              root ? sum : 0,       root ? most : 0};
      for (int k = 0; k < 9; ++k)
        right = right && static_cast<float>(in[static_cast<std::size_t>(k * area + i)]) == (inside ? wanted[k] : 0);
      for (int pe = 0; pe < b.n; ++pe) {
        right = right &&
                static_cast<float>(in[static_cast<std::size_t>((9 + pe) * area + i)]) == (inside ? element(pe, i) : 0);
      }
    }
    if (!right) {
      ++failures;
      std::printf("PE %d: FAIL tiles of %s by a %s, status %d\n", b.me, name, each.scope, static_cast<int>(*c.result));
    } else if (b.me == 0) {
      std::printf("PASS tiles of %s by a %s\n", name, each.scope);
    }
    b.barrier();
  }
}

int check_tiles(bench& b) {
  int failures = 0;
  check_tiles_of<float>(b, "float", failures);
  check_tiles_of<half>(b, "half", failures);
  check_tiles_of<__nv_bfloat16>(b, "bfloat16", failures);
  return failures;
}

const bool tiles_added = (extras().push_back(&check_tiles), true);

}  // namespace
}  // namespace conformance

#endif
