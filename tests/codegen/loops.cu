// The registers of kernels that call operations in loops, as programs do. The calls use the native interface and
// NVSHMEM's names. There are loops with one call, with two different calls, unrolled loops, and loops that keep values
// of their own. A call in a loop must allow blocks of 1024 threads, which have 64 registers per thread. An operation on
// one word by one thread must leave more registers to the program. check.py describes the form of the expectations, and
// sweep.py has more loops.
#include <pgas/compat/nvshmem.h>

#include "any_context.cuh"

extern "C" {

// ---- words by a thread ----

//  registers 40
__global__ void p_loop(any_context ctx, float* dst, float value, int n, int pe) {
  for (int i = 0; i < n; ++i) p(ctx, dst + i, value, pe);
}

//  registers 40
__global__ void g_loop(any_context ctx, float* dst, const float* src, int n, int pe) {
  for (int i = 0; i < n; ++i) dst[i] = g(ctx, src + i, pe);
}

//  registers 40
__global__ void add_loop(any_context ctx, int* dst, int n, int pe) {
  for (int i = 0; i < n; ++i) atomic_add(ctx, dst + i, 7, pe);
}

//  registers 40
__global__ void fetch_add_loop(any_context ctx, int* out, int* dst, int n, int pe) {
  for (int i = 0; i < n; ++i) out[i] = atomic_fetch_add(ctx, dst + i, 7, pe);
}

//  registers 40
__global__ void signal_loop(any_context ctx, signal_t* sig, int n, int pe) {
  for (int i = 0; i < n; ++i) signal_set(ctx, sig + i, 1, pe);
}

//  registers 40
__global__ void wait_loop(any_context ctx, signal_t* sig, int n) {
  for (int i = 0; i < n; ++i) signal_wait_until(ctx, sig + i, cmp::ge, 7);
}

//  registers 40
__global__ void p_quiet_loop(any_context ctx, float* dst, float value, int n, int pe) {
  for (int i = 0; i < n; ++i) {
    p(ctx, dst + i, value, pe);
    quiet(ctx);
  }
}

//  registers 40
__global__ void p_unrolled(any_context ctx, float* dst, const float* src, int n, int pe) {
#pragma unroll 8
  for (int i = 0; i < n; ++i) p(ctx, dst + i, src[i], pe);
}

// ---- lists of copies ----

//  registers 64
__global__ void put_list_loop(any_context ctx, const copy_block* blocks, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put_list(ctx, copy_list{blocks + i * count, count}, pe);
}

//  registers 64
__global__ void put_list_block_loop(any_context ctx, const copy_block* blocks, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put_list(ctx, this_block(), copy_list{blocks + i * count, count}, pe);
}

//  registers 64
__global__ void get_list_block_loop(any_context ctx, const copy_block* blocks, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) get_list(ctx, this_block(), copy_list{blocks + i * count, count}, pe);
}

//  registers 64
__global__ void put_list_signal_warp_loop(any_context ctx, const copy_block* blocks, signal_t* sig, int n,
                                          std::size_t count, int pe) {
  for (int i = 0; i < n; ++i)
    put_list_signal(ctx, this_warp(this_block()), copy_list{blocks + i * count, count}, sig, 1, signal_op::add, pe);
}

// ---- copies ----

//  registers 40
__global__ void put_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put(ctx, dst + i * count, src + i * count, count, pe);
}

//  registers 40
__global__ void get_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) get(ctx, dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void put_signal_thread_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count,
                                       signal_t* sig, int pe) {
  for (int i = 0; i < n; ++i) put_signal(ctx, dst + i * count, src + i * count, count, sig, 1, signal_op::add, pe);
}

//  registers 48
__global__ void put_warp_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put(ctx, this_warp(this_block()), dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void get_warp_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) get(ctx, this_warp(this_block()), dst + i * count, src + i * count, count, pe);
}

//  registers 40
__global__ void put_block_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put(ctx, this_block(), dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void put_nbi_block_loop(any_context ctx, char* dst, const char* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) put_nbi(ctx, this_block(), dst + i * count, src + i * count, count, pe);
}

//  registers 40
__global__ void get_block_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) get(ctx, this_block(), dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void put_signal_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count, signal_t* sig,
                                int pe) {
  for (int i = 0; i < n; ++i) {
    put_signal(ctx, this_block(), dst + i * count, src + i * count, count, sig, 1, signal_op::add, pe);
  }
}

//  registers 48
__global__ void put_signal_warp_loop(any_context ctx, float* dst, const float* src, int n, std::size_t count,
                                     signal_t* sig, int pe) {
  for (int i = 0; i < n; ++i) {
    put_signal(ctx, this_warp(this_block()), dst + i * count, src + i * count, count, sig, 1, signal_op::add, pe);
  }
}

//  registers 48
__global__ void put_signal_bytes_loop(any_context ctx, char* dst, const char* src, int n, std::size_t count,
                                      signal_t* sig, int pe) {
  for (int i = 0; i < n; ++i) {
    put_signal(ctx, this_block(), dst + i * count, src + i * count, count, sig, 1, signal_op::add, pe);
  }
}

//  registers 64
__global__ void iput_loop(any_context ctx, double* dst, const double* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) iput(ctx, this_block(), dst + i * count, src + i * count, 3, 2, count, pe);
}

// Data goes to every other PE, one after another, from a grid of blocks, as in an exchange.
//  registers 56
__global__ void exchange_loop(any_context ctx, float* dst, const float* src, std::size_t count) {
  const std::size_t chunk = (count + gridDim.x - 1) / gridDim.x;
  const std::size_t first = chunk * blockIdx.x;
  if (first >= count) return;
  const std::size_t mine = count - first < chunk ? count - first : chunk;
  for (int i = 1; i < ctx.n_pes(); ++i) {
    const int pe = (ctx.my_pe() + i) % ctx.n_pes();
    put_nbi(ctx, this_block(), dst + ctx.my_pe() * count + first, src + pe * count + first, mine, pe);
  }
}

//  registers 48
__global__ void put_get_loop(any_context ctx, float* dst, float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) {
    put(ctx, this_block(), dst + i * count, src + i * count, count, pe);
    get(ctx, this_block(), src + i * count, dst + i * count, count, pe + 1);
  }
}

//  registers 64
__global__ void put_unrolled(any_context ctx, float* dst, const float* src, int n, std::size_t count, int pe) {
#pragma unroll 4
  for (int i = 0; i < n; ++i) put(ctx, this_block(), dst + i * count, src + i * count, count, pe);
}

// ---- the same by NVSHMEM's names ----

//  registers 40
__global__ void nvshmem_p_loop(float* dst, float value, int n, int pe) {
  for (int i = 0; i < n; ++i) nvshmem_float_p(dst + i, value, pe);
}

//  registers 40
__global__ void nvshmem_g_loop(float* dst, const float* src, int n, int pe) {
  for (int i = 0; i < n; ++i) dst[i] = nvshmem_float_g(src + i, pe);
}

//  registers 40
__global__ void nvshmem_fetch_add_loop(int* out, int* dst, int n, int pe) {
  for (int i = 0; i < n; ++i) out[i] = nvshmem_int_atomic_fetch_add(dst + i, 7, pe);
}

//  registers 40
__global__ void nvshmem_wait_loop(std::uint64_t* sig, int n) {
  for (int i = 0; i < n; ++i) nvshmem_signal_wait_until(sig + i, NVSHMEM_CMP_GE, 7);
}

//  registers 64
__global__ void nvshmem_put_quiet_loop(float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) {
    nvshmem_float_put(dst + i * count, src + i * count, count, pe);
    nvshmem_quiet();
  }
}

//  registers 64
__global__ void nvshmem_putmem_loop(char* dst, const char* src, int n, std::size_t bytes, int pe) {
  for (int i = 0; i < n; ++i) nvshmem_putmem(dst + i * bytes, src + i * bytes, bytes, pe);
}

// A copy through the memory that the block lends: two loads and two stores by the copy unit, under a lock.
//  registers 56
//  callee copy_by_lent_memory 2 cp\.async\.bulk\.shared::cluster\.global\.mbarrier
//  callee copy_by_lent_memory 2 cp\.async\.bulk\.global\.shared::cta
//  callee copy_by_lent_memory 1 atom\.acquire\.cta\.shared::cta\.cas
//  callee copy_by_lent_memory 1 fence\.proxy\.async;
//  callee copy_by_lent_memory 1 cp\.async\.bulk\.wait_group 0;
__global__ void nvshmem_lent_loop(char* dst, const char* src, int n, std::size_t bytes, int pe) {
  extern __shared__ char room[];
  nvshmemx_give_smem(room, 32768);
  for (int i = 0; i < n; ++i) nvshmemx_putmem_block(dst + i * bytes, src + i * bytes, bytes, pe);
  nvshmemx_release_smem();
}

//  registers 48
__global__ void nvshmem_putmem_block_loop(char* dst, const char* src, int n, std::size_t bytes, int pe) {
  for (int i = 0; i < n; ++i) nvshmemx_putmem_block(dst + i * bytes, src + i * bytes, bytes, pe);
}

//  registers 48
__global__ void nvshmem_put_nbi_block_loop(double* dst, const double* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) nvshmemx_double_put_nbi_block(dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void nvshmem_get_block_loop(float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) nvshmemx_float_get_block(dst + i * count, src + i * count, count, pe);
}

//  registers 56
__global__ void nvshmem_put_warp_loop(float* dst, const float* src, int n, std::size_t count, int pe) {
  for (int i = 0; i < n; ++i) nvshmemx_float_put_warp(dst + i * count, src + i * count, count, pe);
}

//  registers 48
__global__ void nvshmem_put_signal_loop(float* dst, const float* src, int n, std::size_t count, std::uint64_t* sig,
                                        int pe) {
  for (int i = 0; i < n; ++i) {
    nvshmemx_float_put_signal_block(dst + i * count, src + i * count, count, sig, 1, NVSHMEM_SIGNAL_ADD, pe);
  }
}

// ---- collectives ----

//  registers 64
__global__ void barrier_loop(any_context ctx, int n) {
  for (int i = 0; i < n; ++i) barrier(ctx, this_block());
}

//  registers 128
__global__ void nvshmem_reduce_loop(float* dst, const float* src, int n, std::size_t count) {
  for (int i = 0; i < n; ++i) {
    nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, dst + i * count, src + i * count, count);
  }
}

//  registers 90
__global__ void nvshmem_fcollect_loop(float* dst, const float* src, int n, std::size_t count) {
  for (int i = 0; i < n; ++i) {
    nvshmemx_float_fcollect_block(NVSHMEM_TEAM_WORLD, dst + i * count, src + i * count, count);
  }
}

//  registers 96
__global__ void nvshmem_alltoall_loop(float* dst, const float* src, int n, std::size_t count) {
  for (int i = 0; i < n; ++i) {
    nvshmemx_float_alltoall_block(NVSHMEM_TEAM_WORLD, dst + i * count, src + i * count, count);
  }
}

}  // extern "C"
