// Each operation in two forms: the native form, and the form that NVSHMEM programs call. same_machine_code.py compares
// the compiled code.
#include <pgas/compat/nvshmem.h>

#include <pgas/device.hpp>

using namespace pgas;

extern "C" {

__global__ void p_native(context ctx, float* dst, float value, int pe) { p(ctx, dst, value, pe); }
__global__ void p_nvshmem(float* dst, float value, int pe) { nvshmem_float_p(dst, value, pe); }

__global__ void g_native(context ctx, double* out, const double* src, int pe) { *out = g(ctx, src, pe); }
__global__ void g_nvshmem(double* out, const double* src, int pe) { *out = nvshmem_double_g(src, pe); }

__global__ void put_thread_native(context ctx, int* dst, const int* src, std::size_t n, int pe) {
  put(ctx, dst, src, n, pe);
}
__global__ void put_thread_nvshmem(int* dst, const int* src, std::size_t n, int pe) {
  nvshmem_int_put(dst, src, n, pe);
}

__global__ void put_block_native(context ctx, float* dst, const float* src, std::size_t n, int pe) {
  put(ctx, this_block(), dst, src, n, pe);
}
__global__ void put_block_nvshmem(float* dst, const float* src, std::size_t n, int pe) {
  nvshmemx_float_put_block(dst, src, n, pe);
}

// All of NVSHMEM's calls by a group end with a sync of the group.
__global__ void put_nbi_block_native(context ctx, float* dst, const float* src, std::size_t n, int pe) {
  put_nbi(ctx, this_block(), dst, src, n, pe);
  this_block().sync();
}
__global__ void put_nbi_block_nvshmem(float* dst, const float* src, std::size_t n, int pe) {
  nvshmemx_float_put_nbi_block(dst, src, n, pe);
}

__global__ void get_nbi_warp_native(context ctx, float* dst, const float* src, std::size_t n, int pe) {
  const warp all = this_warp(this_block());
  get_nbi(ctx, all, dst, src, n, pe);
  all.sync();
}
__global__ void get_nbi_warp_nvshmem(float* dst, const float* src, std::size_t n, int pe) {
  nvshmemx_float_get_nbi_warp(dst, src, n, pe);
}

__global__ void iput_block_native(context ctx, float* dst, const float* src, std::size_t n, int pe) {
  iput(ctx, this_block(), dst, src, 3, 2, n, pe);
}
__global__ void iput_block_nvshmem(float* dst, const float* src, std::size_t n, int pe) {
  nvshmemx_float_iput_block(dst, src, 3, 2, n, pe);
}

__global__ void put_signal_native(context ctx, float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  put_signal(ctx, dst, src, n, sig, 1, signal_op::add, pe);
}
__global__ void put_signal_nvshmem(float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  nvshmem_float_put_signal(dst, src, n, sig, 1, NVSHMEM_SIGNAL_ADD, pe);
}

__global__ void put_signal_block_native(context ctx, float* dst, const float* src, std::size_t n, signal_t* sig,
                                        int pe) {
  put_signal(ctx, this_block(), dst, src, n, sig, 1, signal_op::set, pe);
  this_block().sync();
}
__global__ void put_signal_block_nvshmem(float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  nvshmemx_float_put_signal_block(dst, src, n, sig, 1, NVSHMEM_SIGNAL_SET, pe);
}

__global__ void put_signal_nbi_block_native(context ctx, float* dst, const float* src, std::size_t n, signal_t* sig,
                                            int pe) {
  put_signal_nbi(ctx, this_block(), dst, src, n, sig, 1, signal_op::add, pe);
  this_block().sync();
}
__global__ void put_signal_nbi_block_nvshmem(float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  nvshmemx_float_put_signal_nbi_block(dst, src, n, sig, 1, NVSHMEM_SIGNAL_ADD, pe);
}

__global__ void wait_signal_native(context ctx, signal_t* sig) { signal_wait_until(ctx, sig, cmp::ge, 7); }
__global__ void wait_signal_nvshmem(signal_t* sig) { nvshmem_signal_wait_until(sig, NVSHMEM_CMP_GE, 7); }

__global__ void wait_until_native(context ctx, int* word) { wait_until(ctx, word, cmp::eq, 7); }
__global__ void wait_until_nvshmem(int* word) { nvshmem_int_wait_until(word, NVSHMEM_CMP_EQ, 7); }

__global__ void add_native(context ctx, std::int64_t* dst, int pe) { atomic_add(ctx, dst, 3, pe); }
__global__ void add_nvshmem(std::int64_t* dst, int pe) { nvshmem_int64_atomic_add(dst, 3, pe); }

__global__ void quiet_native(context ctx) { quiet(ctx); }
__global__ void quiet_nvshmem() { nvshmem_quiet(); }

}  // extern "C"
