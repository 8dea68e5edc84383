// The expected code for each operation. Each kernel has expectations for check.py in the comment above it: a stage (ptx
// or sass), a number of occurrences, and a regular expression for one instruction. `sass` refers to the kernel's own
// code, up to the first out-of-line function. `callee` refers to the out-of-line functions in the PTX that the kernel
// calls and whose name matches. All of these refer to direct_context, and to the path that an operation takes if the PE
// is load/store accessible and checks are off. `size` is the largest number of instructions of the kernel's own code,
// and `general` the same number with the general context. `registers` and `stack` refer to the whole kernel with the
// general context. `whole` has the form of `sass`, and refers to the whole kernel with the general context.
#include "any_context.cuh"

extern "C" {

// One store, without a table and without other accesses to memory.
//  ptx  1   st\.relaxed\.sys\.global\.u32
//  ptx  0   ld\.(relaxed|global|weak|volatile|u|b|f|v)
//  sass 1   STG\.E\.STRONG\.SYS
//  sass 0   LDG|LD\.|MEMBAR|CCTL
//  size 16
//  general 40
//  stack 176
//  registers 32
__global__ void p_float(any_context ctx, float* dst, float value, int pe) { p(ctx, dst, value, pe); }

// The address is computed by one addition.
//  ptx  1   st\.relaxed\.sys\.global\.u32
//  size 12
//  general 40
__global__ void p_to_peer(any_context ctx, float* dst, float value, any_peer pe) { p(ctx, dst, value, pe); }

// One store, as in p_float().
//  ptx  1   st\.relaxed\.sys\.global\.u64
//  size 20
//  general 45
//  stack 176
__global__ void set_signal(any_context ctx, signal_t* sig, signal_t value, int pe) { signal_set(ctx, sig, value, pe); }

// Sixteen bytes are stored by one instruction.
//  ptx  1   st\.relaxed\.sys\.global\.v2\.u64
//  sass 1   STG\.E\.128\.STRONG\.SYS
__global__ void p_sixteen_bytes(any_context ctx, detail::vec16* dst, detail::vec16 value, int pe) {
  p(ctx, dst, value, pe);
}

// A strong load, so that a loop of loads sees new values.
//  ptx  1   ld\.relaxed\.sys\.global\.u64
//  sass 1   LDG\.E\.64\.STRONG\.SYS
//  sass 0   MEMBAR|CCTL
//  general 40
//  stack 176
//  registers 40
__global__ void g_double(any_context ctx, double* out, const double* src, int pe) { *out = g(ctx, src, pe); }

// A sync before the copy and a sync after the copy. The copy moves whole 16-byte words, with four loads before the
// first store, and never uses the read-only path. The data of the slow path is on the stack.
//  ptx  2   bar\.sync
//  sass 2   BAR\.SYNC
//  callee copy_long 4+  ld\.v4\.u32
//  callee copy_long 4+  st\.global\.v4\.u32
//  callee copy_long 0   ld\.global\.nc|\.L1::no_allocate
//  ptx  0   ld\.global
//  general 700
//  registers 64
__global__ void put_block(any_context ctx, float* dst, const float* src, std::size_t n, int pe) {
  put(ctx, this_block(), dst, src, n, pe);
}

// Strong loads, which bypass L1. L1 is invalidated before loads that can hit L1: loads of words that are read twice,
// and loads by groups smaller than a warp.
//  ptx  2   bar\.sync
//  callee copy_long 8+  ld\.relaxed\.sys\.global\.v2\.u64
//  callee copy_long 8+  ld\.v4\.u32
//  callee copy_long 3   fence\.acquire\.sys
//  callee copy_long 8+  st\.v4\.u32
//  callee copy_long 0   ld\.global
//  general 700
//  registers 64
__global__ void get_block(any_context ctx, float* dst, const float* src, std::size_t n, int pe) {
  get(ctx, this_block(), dst, src, n, pe);
}

// One thread copies 16 bytes at a time.
//  callee copy_by_thread 8+  st\.global\.v4\.u32
//  registers 64
__global__ void put_thread(any_context ctx, char* dst, const char* src, std::size_t n, int pe) {
  put(ctx, dst, src, n, pe);
}

// Lanes that call together cooperate on whole words. The path of a single lane also exists.
//  callee copy_by_thread 1   activemask
//  callee copy_by_thread 2+  ld\.relaxed\.sys\.global\.v2\.u64
//  callee copy_by_thread 8+  st\.v4\.u32
//  callee copy_by_thread 2   bar\.warp\.sync
//  registers 40
__global__ void get_thread(any_context ctx, float* dst, const float* src, std::size_t n, int pe) {
  get(ctx, dst, src, n, pe);
}

// A few words are copied by inlined code without a call: all loads, then all stores.
//  ptx  4   ld\.u32
//  ptx  4   st\.u32
//  ptx  0   activemask
//  sass 4   ST\.E
//  size 60
__global__ void put_four(any_context ctx, float* dst, const float* src, int pe) { put(ctx, dst, src, 4, pe); }

// A single element is also read by strong loads, so a repeated get of the same word sees its new value.
//  ptx  1   ld\.relaxed\.sys\.global\.u64
//  ptx  0   ld\.u|ld\.global|fence
//  sass 1   LDG\.E\.64\.STRONG\.SYS
__global__ void get_one(any_context ctx, double* dst, const double* src, int pe) { get(ctx, dst, src, 1, pe); }

// A stencil that sends its halo value by value, in blocks of 1024 threads. Two such blocks fit on a multiprocessor.
//  ptx  2   st\.relaxed\.sys\.global\.u32
//  registers 32
__global__ void stencil(any_context ctx, float* to, const float* from, int nx, int first, int last, int top,
                        int bottom) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) + first;
  if (y >= last || x >= nx - 1) return;
  const float value =
      0.25f * (from[y * nx + x + 1] + from[y * nx + x - 1] + from[(y + 1) * nx + x] + from[(y - 1) * nx + x]);
  to[y * nx + x] = value;
  if (y == first) p(ctx, to + last * nx + x, value, top);
  if (y == last - 1) p(ctx, to + x, value, bottom);
}

// Four elements in flight.
//  ptx  2   bar\.sync
//  callee copy_elements 4   ld\.u64
//  callee copy_elements 4   st\.u64
//  callee copy_elements 0   ld\.relaxed|st\.relaxed
//  registers 64
__global__ void iput_block(any_context ctx, double* dst, const double* src, std::size_t n, int pe) {
  iput(ctx, this_block(), dst, src, 3, 2, n, pe);
}

// A warp copies blocks of 16-byte words, two words at a time.
//  ptx  2   bar\.warp\.sync
//  callee copy_part   2   ld\.relaxed\.sys\.global\.v2\.u64
//  callee copy_part   2   st\.v4\.u32
//  registers 64
__global__ void ibget_warp(any_context ctx, detail::vec16* dst, const detail::vec16* src, std::size_t n, int pe) {
  ibget(ctx, this_warp(this_block()), dst, src, 5, 7, 3, n, pe);
}

// One release at system scope, by the store itself. There is no fence for the acquire side. The sync after the copy is
// also the sync before the signal.
//  ptx  2   bar\.sync
//  sass 2   BAR\.SYNC
//  ptx  1   st\.release\.sys\.global\.u64
//  ptx  0   fence|membar
//  sass 1   MEMBAR\.ALL\.SYS
//  sass 0   CCTL|MEMBAR\.SC
//  size 450
//  general 800
//  registers 64
__global__ void put_signal_block(any_context ctx, float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  put_signal(ctx, this_block(), dst, src, n, sig, 1, signal_op::set, pe);
}

// One release by the addition to the signal itself.
//  ptx  1   red\.release\.sys\.global\.add\.u64
//  ptx  0   atom\.|fence|membar
//  sass 1   MEMBAR\.ALL\.SYS
//  sass 0   CCTL|MEMBAR\.SC|ATOM
__global__ void put_signal_add(any_context ctx, float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  put_signal(ctx, dst, src, n, sig, 1, signal_op::add, pe);
}

// A relaxed poll, then one acquire fence outside the loop, without MEMBAR. The rest of the wait is out of line.
//  ptx  1   ld\.relaxed\.sys\.global\.u64
//  ptx  1   fence\.acquire\.sys
//  ptx  0   ld\.(acquire|global|weak|volatile|u|b|f|v)
//  sass 1   CCTL\.IVALL
//  sass 0   MEMBAR
//  size 60
//  general 65
__global__ void wait_signal(any_context ctx, const signal_t* sig, signal_t value) {
  wait_until(ctx, sig, cmp::ge, value);
}

// Eight words in flight.
//  callee await_any 8   ld\.relaxed\.sys\.global\.u64
//  callee await_any 1   fence\.acquire\.sys
//  callee await_any 0   ld\.(acquire|weak|volatile)
//  ptx  0   fence|membar
//  sass 0   MEMBAR
//  registers 64
__global__ void wait_any(any_context ctx, const signal_t* sig, std::size_t n, std::size_t* out) {
  *out = wait_until_any(ctx, sig, n, nullptr, cmp::ne, 0);
}

// Arrivals without data. The waits invalidate L1, without MEMBAR.
//  ptx  1+  red\.relaxed\.sys\.global\.add\.u64
//  ptx  0   fence\.(release|acq_rel|sc)|atom\.|ld\.global
//  sass 1+  REDG?\.E\.ADD\.64\.STRONG\.SYS
//  sass 1+  CCTL\.IVALL
//  sass 0   MEMBAR|ATOM
//  size 140
//  general 150
__global__ void sync_block(any_context ctx) { sync(ctx, this_block()); }

// When one thread waits, L1 is invalidated, without MEMBAR and without an atomic operation that returns a result.
//  ptx  0   fence\.(release|acq_rel|sc)|atom\.|ld\.global
//  sass 1+  CCTL\.IVALL
//  sass 0   MEMBAR|ATOM
__global__ void sync_thread(any_context ctx) { sync(ctx); }

// One release by each arriving thread, before its arrivals.
//  ptx  1   fence\.release\.sys
//  ptx  0   fence\.(acq_rel|sc)|atom\.|ld\.global
//  sass 1   MEMBAR\.ALL\.SYS
//  sass 0   MEMBAR\.SC|ATOM
//  size 140
//  general 150
//  registers 60
__global__ void barrier_block(any_context ctx) { barrier(ctx, this_block()); }

// One thread makes the copy unit move data through shared memory. The data is never in registers, and there is no fence
// at system scope before the signal's fence.
//  callee copy_through 1+  cp\.async\.bulk\.shared::cluster\.global
//  callee copy_through 1+  cp\.async\.bulk\.global\.shared::cta
//  callee copy_through 0   ld\.(v4|global|u)|st\.(v4|global)|fence|membar
//  ptx  1+  fence\.proxy\.async
//  ptx  2   isspacep\.param::entry
//  registers 64
__global__ void put_signal_bulk(any_context ctx, float* dst, const float* src, std::size_t n, signal_t* sig, int pe) {
  __shared__ alignas(128) char room[16 << 10];
  bulk_copier by(room, sizeof room);
  put_signal(ctx, by, dst, src, n, sig, 1, signal_op::set, pe);
}

// Each call that orders a program's own bulk copies is one instruction.
//  ptx  1   fence\.proxy\.async
//  ptx  1   cp\.async\.bulk\.wait_group\s+0
//  size 8
__global__ void own_bulk_copies() {
  fence_proxy_async();
  bulk_wait_all();
}

// A few elements are sent as LL packets of data and epoch: one store for 8 bytes, polls of three members at the same
// time, and no fence. (The fences of the barriers for more elements are out of line.)
//  callee ll_reduce_slice 2+   st\.relaxed\.sys\.global\.v2\.u64
//  callee ll_reduce_slice 6+   ld\.relaxed\.sys\.global\.v2\.u64
//  callee ll_reduce_slice 0    fence|membar|atom\.|red\.
//  ptx  1   red\.relaxed\.sys\.global\.add\.u32
//  ptx  0   fence|membar
__global__ void reduce_block(any_context ctx, std::int64_t* dst, const std::int64_t* src, std::size_t n) {
  const context direct = ctx;
  reduce(direct, this_block(), direct.world(), dst, src, n, op::sum{});
}

// The code of a reduction is out of line. The numbers below are the costs for the callers of the reduction, and allow
// blocks of 512 threads.
//  size 260
//  general 720
//  registers 112
__global__ void reduce_float(any_context ctx, float* dst, const float* src, std::size_t n) {
  const context general = ctx;
  reduce(general, this_block(), general.team(), dst, src, n, op::sum{});
}

// A few elements are sent as LL packets, without a fence.
//  callee ll_exchange_slice 2+   st\.relaxed\.sys\.global\.v2\.u64
//  callee ll_exchange_slice 6+   ld\.relaxed\.sys\.global\.v2\.u64
//  callee ll_exchange_slice 0    fence|membar|atom\.|red\.
//  ptx  0   fence|membar
__global__ void fcollect_block(any_context ctx, float* dst, const float* src, std::size_t n) {
  const context direct = ctx;
  fcollect(direct, this_block(), direct.world(), dst, src, n);
}

// A few elements are sent as LL packets, without a fence.
//  callee ll_broadcast_slice 3+   st\.relaxed\.sys\.global\.v2\.u64
//  callee ll_broadcast_slice 0    fence|membar|atom\.|red\.
//  ptx  0   fence|membar
__global__ void broadcast_block(any_context ctx, double* dst, const double* src, std::size_t n, int root) {
  const context direct = ctx;
  broadcast(direct, this_block(), direct.world(), dst, src, n, root);
}

// One release at system scope.
//  ptx  1   fence\.release\.sys
//  sass 1   MEMBAR\.ALL\.SYS
//  sass 0   CCTL
//  registers 40
__global__ void fence_thread(any_context ctx) { fence(ctx); }

// One sequentially consistent fence.
//  ptx  1   fence\.sc\.sys
//  sass 1   MEMBAR\.SC\.SYS
//  registers 40
__global__ void quiet_thread(any_context ctx) { quiet(ctx); }

// An operation without a result needs no response.
//  ptx  1   red\.relaxed\.sys\.global\.add\.u64
//  sass 1   REDG?\.E\.ADD\.64\.STRONG\.SYS
//  sass 0   ATOM
__global__ void add_int64(any_context ctx, std::int64_t* dst, int pe) { atomic_add(ctx, dst, -3, pe); }

// One operation without a response.
//  ptx  1   red\.relaxed\.sys\.global\.add\.f64
//  sass 0   ATOM
__global__ void add_double(any_context ctx, double* dst, double value, int pe) { atomic_add(ctx, dst, value, pe); }

// One operation without a response.
//  ptx  1   red\.relaxed\.sys\.global\.min\.s64
//  ptx  0   atom\.
//  sass 0   ATOM
__global__ void min_int64(any_context ctx, std::int64_t* dst, std::int64_t value, int pe) {
  atomic_min(ctx, dst, value, pe);
}

// The maximum is computed with integers, in one of two ways that depend on the operand's sign.
//  ptx  1   red\.relaxed\.sys\.global\.max\.s32
//  ptx  1   red\.relaxed\.sys\.global\.min\.u32
//  ptx  0   atom\.
//  sass 0   ATOM
__global__ void max_float(any_context ctx, float* dst, float value, int pe) { atomic_max(ctx, dst, value, pe); }

// Both numbers are added by one operation.
//  ptx  1   red\.relaxed\.sys\.global\.add\.noftz\.bf16x2
//  ptx  0   atom\.
//  sass 0   ATOM
__global__ void add_bfloat16_pair(any_context ctx, bfloat16_pair* dst, bfloat16_pair value, int pe) {
  atomic_add(ctx, dst, value, pe);
}

// One operation without a response.
//  ptx  1   red\.relaxed\.sys\.global\.add\.noftz\.f16
//  ptx  0   atom\.
__global__ void add_float16(any_context ctx, float16* dst, float16 value, int pe) { atomic_add(ctx, dst, value, pe); }

// One operation without a response.
//  ptx  1   red\.relaxed\.sys\.global\.xor\.b32
//  sass 0   ATOM
__global__ void xor_uint32(any_context ctx, std::uint32_t* dst, std::uint32_t value, int pe) {
  atomic_xor(ctx, dst, value, pe);
}

// One store in place of an atomic exchange.
//  ptx  1   st\.relaxed\.sys\.global\.u64
//  sass 0   ATOM|RED
__global__ void set_uint64(any_context ctx, std::uint64_t* dst, std::uint64_t value, int pe) {
  atomic_set(ctx, dst, value, pe);
}

// One load in place of an atomic operation.
//  ptx  1   ld\.relaxed\.sys\.global\.u32
//  sass 0   ATOM|RED
__global__ void fetch_int32(any_context ctx, int* out, const int* src, int pe) { *out = atomic_fetch(ctx, src, pe); }

// One atomic operation with a response.
//  ptx  1   atom\.relaxed\.sys\.global\.add\.u64
//  sass 1   ATOMG?\.E\.ADD\.64\.STRONG\.SYS
//  sass 0   MEMBAR
//  general 60
//  stack 176
__global__ void fetch_add_uint64(any_context ctx, std::uint64_t* out, std::uint64_t* dst, int pe) {
  *out = atomic_fetch_add(ctx, dst, 1, pe);
}

// One compare-and-swap.
//  ptx  1   atom\.relaxed\.sys\.global\.cas\.b64
//  sass 0   MEMBAR
__global__ void compare_swap(any_context ctx, std::uint64_t* out, std::uint64_t* dst, int pe) {
  *out = atomic_compare_swap(ctx, dst, 1, 2, pe);
}

// No instruction waits for the result before the result is stored.
//  ptx  1   atom\.relaxed\.sys\.global\.add\.u64
//  ptx  0   fence|membar|ld\.(relaxed|global)
__global__ void fetch_add_nbi(any_context ctx, std::uint64_t* result, std::uint64_t* dst, int pe) {
  atomic_fetch_add_nbi(ctx, result, dst, 1, pe);
}

// Subtracting arrivals from a signal takes a poll and one exchange.
//  ptx  1+  ld\.relaxed\.sys\.global\.u64
//  ptx  1+  atom\.relaxed\.sys\.global\.cas\.b64
//  ptx  0   fence\.(release|sc|acq_rel)|membar
//  sass 0   MEMBAR
__global__ void take_signal(any_context ctx, signal_t* sig) { signal_take(ctx, sig, 4); }

}  // extern "C"
