// The parts of warp-specialized kernels: tiles that the copy unit moves, and groups of several warps. The format is
// that of kernels.cu.
#include <pgas/device.hpp>

using namespace pgas;

#if defined(CODEGEN_DIRECT)
using any_context = direct_context;
#else
using any_context = context;
#endif

extern "C" {

// One instruction of the copy unit sends a tile from shared memory to the peer. The only fence is the fence of the
// async proxy.
//  ptx  1   cp\.async\.bulk\.global\.shared::cta\.bulk_group
//  ptx  1   fence\.proxy\.async\.shared::cta
//  ptx  1   fence\.proxy\.async\.global
//  ptx  1   cp\.async\.bulk\.wait_group\.read\s+0
//  ptx  0   fence\.(acq_rel|sc|release)|membar
//  registers 64
__global__ void put_tile(any_context ctx, detail::vec16* dst, std::size_t n, int pe) {
  __shared__ alignas(128) detail::vec16 tile[256];
  bulk_copier by;
  put_nbi(ctx, by, dst, tile, n, pe);
  flush(by);
}

// An addition. Elements are added singly only at ends that are not multiples of 16 bytes.
//  ptx  1   cp\.reduce\.async\.bulk\.global\.shared::cta\.bulk_group\.add\.noftz\.bf16
//  ptx  0   fence\.(acq_rel|sc|release)|membar
//  sass 1   UBLKRED\.G\.S\.ADD\.BF16
//  registers 64
__global__ void add_tile(any_context ctx, bfloat16* dst, std::size_t n, int pe) {
  __shared__ alignas(128) bfloat16 tile[256];
  bulk_copier by;
  add_nbi(ctx, by, dst, tile, n, pe);
}

// Two kernels with the same addition. If both kernels called one function for the addition, ptxas would compile this
// function out of line, and its additions would lose the type F32. The addition must therefore be inline in each
// kernel.
//  whole 1   UBLKRED\.G\.S\.ADD\.F32
//  whole 0   UBLKRED\.G\.S\.ADD(?!\.F32)
__global__ void add_floats(any_context ctx, float* dst, std::size_t n, int pe) {
  __shared__ alignas(128) float tile[256];
  bulk_copier by;
  add_nbi(ctx, by, dst, tile, n, pe);
}
// The second kernel, which also waits.
//  whole 1   UBLKRED\.G\.S\.ADD\.F32
//  whole 0   UBLKRED\.G\.S\.ADD(?!\.F32)
__global__ void add_floats_and_wait(any_context ctx, float* dst, std::size_t n, int pe) {
  __shared__ alignas(128) float tile[256];
  bulk_copier by;
  add_nbi(ctx, by, dst, tile, n, pe);
  quiet(ctx, by);
}

// A get that completes on the caller's mbarrier, so the thread does not wait.
//  ptx  1   cp\.async\.bulk\.shared::cluster\.global\.mbarrier::complete_tx::bytes
//  ptx  0   mbarrier\.(try|test)_wait
//  registers 64
__global__ void get_tile(any_context ctx, const detail::vec16* src, std::size_t n, int pe) {
  __shared__ alignas(128) detail::vec16 tile[256];
  __shared__ std::uint64_t word;
  get_nbi(ctx, mbarrier(&word), tile, src, n, pe);
}

// The vote and the result of a warpgroup use the warpgroup's own barrier, and not the barrier of the block.
//  ptx  1+  barrier\.red\.or\.pred
//  ptx  0   bar(rier)?\.(cta\.)?(sync|red).*\s0[,;]
//  registers 48
__global__ void wait_warpgroup(any_context ctx, signal_t* sig) {
  signal_wait_until(ctx, this_warpgroup(this_block()), sig, cmp::ge, 3);
}

}  // extern "C"
