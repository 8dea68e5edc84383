#include "device/cuda/kernels/kernels.hpp"
#include "pgas/device/atomic.hpp"
#include "pgas/device/order.hpp"

namespace pgas::detail::cuda {

namespace {

/// As in atomic_request::operation.
enum : int { op_fetch, op_set, op_add, op_and, op_or, op_xor, op_swap, op_compare_swap };

template <class T>
__device__ T carry_out(int operation, T* target, T value, T condition) {
  const context here{};  // PE 0 of a world of one: the target is an address, not a PE's offset
  switch (operation) {
    case op_fetch: return atomic_fetch(here, target, 0);
    case op_add: return atomic_fetch_add(here, target, value, 0);
    case op_set:
    case op_swap: return atomic_swap(here, target, value, 0);
    default: break;
  }
  if constexpr (amo_integer<T>) {
    switch (operation) {
      case op_and: return atomic_fetch_and(here, target, value, 0);
      case op_or: return atomic_fetch_or(here, target, value, 0);
      case op_xor: return atomic_fetch_xor(here, target, value, 0);
      case op_compare_swap: return atomic_compare_swap(here, target, condition, value, 0);
      default: break;
    }
  }
  return T{};
}

template <class T>
__global__ void atomic_kernel(int operation, T* target, T value, T condition, bool release, std::uint64_t* result) {
  if (release) fence(context{});
  const T old = carry_out(operation, target, value, condition);
  if (result != nullptr) {
    if constexpr (std::is_same_v<T, float>) *result = __float_as_uint(old);
    else if constexpr (std::is_same_v<T, double>) *result = static_cast<std::uint64_t>(__double_as_longlong(old));
    else *result = old;
  }
}

}  // namespace

cudaError_t launch_atomic(int operation, int type, void* target, std::uint64_t value, std::uint64_t condition, bool release,
                          std::uint64_t* result, cudaStream_t stream) {
  const auto launch = [&](auto* word, auto operand, auto compared) {
    atomic_kernel<<<1, 1, 0, stream>>>(operation, word, operand, compared, release, result);
  };
  const auto low = static_cast<std::uint32_t>(value);
  switch (type) {  // atomic_request::type
    case 0: launch(static_cast<std::uint32_t*>(target), low, static_cast<std::uint32_t>(condition)); break;
    case 1: launch(static_cast<std::uint64_t*>(target), value, condition); break;
    case 2: launch(static_cast<float*>(target), std::bit_cast<float>(low), 0.0F); break;
    case 3: launch(static_cast<double*>(target), std::bit_cast<double>(value), 0.0); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

cudaError_t preload_atomic() {
  cudaFuncAttributes ignored{};
  for (const void* kernel : {reinterpret_cast<const void*>(&atomic_kernel<std::uint32_t>),
                             reinterpret_cast<const void*>(&atomic_kernel<std::uint64_t>),
                             reinterpret_cast<const void*>(&atomic_kernel<float>),
                             reinterpret_cast<const void*>(&atomic_kernel<double>)})
    if (const cudaError_t failed = cudaFuncGetAttributes(&ignored, kernel); failed != cudaSuccess) return failed;
  return cudaSuccess;
}

}  // namespace pgas::detail::cuda
