// A call of each family of operations, and every atomic instruction. tests/structure/operations.cpp calls every
// operation with one compiler; this source is short, because a dozen compilers compile it for each architecture. The
// source is only compiled, and never run.
#include <pgas/device.hpp>

namespace pgas {  // in this namespace, std:: is libcu++ under NVRTC

template <class T>
__device__ void add(T* at, T value) {
  detail::reduce<detail::rmw::add>(at, value);
  *at = detail::fetch<detail::rmw::add>(at, value);
  *at = detail::exchange(at, detail::compare_exchange(at, value, value));
}

template <detail::rmw Op, class T>
__device__ void update(T* at, T value) {
  detail::reduce<Op>(at, value);
  *at = detail::fetch<Op>(at, value);
}

template <class T>
__device__ void update_integer(T* at, T value) {
  add(at, value);
  update<detail::rmw::bit_and>(at, value);
  update<detail::rmw::bit_or>(at, value);
  update<detail::rmw::bit_xor>(at, value);
  update<detail::rmw::min>(at, value);
  update<detail::rmw::max>(at, value);
}

extern "C" __global__ void instructions(std::uint32_t* u32, std::uint64_t* u64, std::int32_t* s32, std::int64_t* s64,
                                        float* f32, double* f64, float16* half, float16_pair* halves, bfloat16* brain,
                                        bfloat16_pair* brains) {
  update_integer(u32, *u32);
  update_integer(u64, *u64);
  update_integer(s32, *s32);
  update_integer(s64, *s64);
  add(f32, *f32);
  add(f64, *f64);
  add(half, *half);
  add(halves, *halves);
  add(brain, *brain);
  add(brains, *brains);
#if defined(PGAS_HAS_BULK_COPIES)
  detail::bulk_add<float>(f32, 0, 16);
  detail::bulk_add<double>(f64, 0, 16);
  detail::bulk_add<std::uint32_t>(u32, 0, 16);
  detail::bulk_add<std::int64_t>(s64, 0, 16);
  detail::bulk_add<float16>(half, 0, 16);
  detail::bulk_add<bfloat16_pair>(brains, 0, 16);
#endif
}

extern "C" __global__ void families(context ctx, float* to, const float* from, std::size_t n, signal_t* sig, int pe) {
  const block all = this_block();
  put(ctx, all, to, from, n, pe);
  put_signal(ctx, all, to, from, n, sig, 1, signal_op::add, pe);
  wait_until(ctx, all, sig, cmp::ge, signal_t{1});
  p(ctx, to, g(ctx, from, pe), pe);
  *sig = atomic_fetch_add(ctx, sig, signal_t{1}, pe);
  quiet(ctx);
  barrier(ctx, all);
}

}  // namespace pgas
