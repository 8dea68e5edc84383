/// @file
/// The tensors of NVSHMEM's tile interface, and the names of algorithms. A tensor has an address, a shape and strides.
/// Each number of shape and strides is a run-time value or a compile-time constant. For host and device, C++17. The
/// header is empty for compilers without libcu++. nvcc provides libcu++; other compilers need the CUDA toolkit's
/// include directory (in CUDA 13 its subdirectory cccl).
#pragma once

#if __has_include(<cuda/std/tuple>)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>

#include <cuda/std/tuple>
#include <cuda/std/type_traits>

/// A compile-time constant in a shape or in strides.
template <int v>
struct ConstInt : cuda::std::integral_constant<int, v> {
  __host__ __device__ constexpr operator int() const { return v; }
};

namespace nvshmemx {

/// The number of elements of a tensor along each dimension; also the type of coordinates.
template <class... Shapes>
using shape = cuda::std::tuple<Shapes...>;
/// The distance, in elements, between adjacent elements along each dimension.
template <class... Strides>
using stride = cuda::std::tuple<Strides...>;

template <class... Numbers>
__host__ __device__ constexpr shape<Numbers...> make_shape(const Numbers&... numbers) {
  return shape<Numbers...>(numbers...);
}
template <class... Numbers>
__host__ __device__ constexpr stride<Numbers...> make_stride(const Numbers&... numbers) {
  return stride<Numbers...>(numbers...);
}

/// A shape with its strides.
template <class Shape, class Stride>
struct Layout : private cuda::std::tuple<Shape, Stride> {
  __host__ __device__ constexpr Layout(const Shape& of_shape = {}, const Stride& of_stride = {})
      : pair(of_shape, of_stride) {}

  __host__ __device__ constexpr Shape shape() const { return cuda::std::get<0>(both()); }
  __host__ __device__ constexpr Stride stride() const { return cuda::std::get<1>(both()); }

 private:
  using pair = cuda::std::tuple<Shape, Stride>;
  __host__ __device__ constexpr const pair& both() const { return *this; }
};

template <class Shape, class Stride>
__host__ __device__ constexpr Layout<Shape, Stride> make_layout(const Shape& of_shape, const Stride& of_stride) {
  return Layout<Shape, Stride>(of_shape, of_stride);
}

/// A tensor that does not own its elements' memory.
template <typename T, class Layout>
struct Tensor {
  using value_type = T;
  using layout_type = Layout;
  T* _data;
  const Layout _layout;

  __host__ __device__ constexpr Tensor(T* first_element, Layout of_layout) : _data(first_element), _layout(of_layout) {}
  __host__ __device__ Tensor(Layout of_layout) : _data(nullptr), _layout(of_layout) {}

  __host__ __device__ T* data() { return _data; }
  __host__ __device__ constexpr Layout layout() const { return _layout; }
  __host__ __device__ constexpr auto stride() const { return _layout.stride(); }
  __host__ __device__ constexpr auto shape() const { return _layout.shape(); }
};

/// The algorithm of a tile collective. Each member produces its own results (one-shot), or one member, the root,
/// produces all results (two-shot). The members exchange data by loads from the other members (pull) or by stores to
/// them (push). NVSHMEM has the same names. NVSHMEM's implementation uses multicast memory (NVLS); this implementation
/// uses loads and stores.
typedef enum {
  NVLS_ONE_SHOT_PUSH_NBI = 0,
  NVLS_ONE_SHOT_PULL_NBI = 1,
  NVLS_TWO_SHOT_PUSH_NBI = 2,
  NVLS_TWO_SHOT_PULL_NBI = 3,
  NVSHMEMI_TILE_COLL_ALGO_SENTINEL = INT_MAX
} tile_coll_algo_t;

/// The route of a put or get. All values have the same effect, because the library chooses the route.
typedef enum {
  PEER_PUSH_NBI = 0,
  PEER_PULL_NBI = 0,
  REMOTE_PUSH_NBI = 1,
  REMOTE_PULL_NBI = 1,
  NVSHMEMI_TILE_ALGO_SENTINEL = INT_MAX
} tile_algo_t;

}  // namespace nvshmemx

#endif
