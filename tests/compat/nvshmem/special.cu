// Tests functions that do not exist for several types: queries, order, barriers, signals, and functions of a single
// type.
#include <cstdio>

#include "bench.hpp"

namespace conformance {

namespace {

/// The kernels' view of the world, which is compared with the host's view.
struct facts {
  int me, n, row_me, row_n, world_of_row_0, row_of_me, major, minor, vendor[3];
  void* right;
  void* self;
  char name[NVSHMEM_MAX_NAME_LEN];
};

#define FACTS_OF(f, team, symmetric)                                           \
  (f).me = nvshmem_my_pe();                                                    \
  (f).n = nvshmem_n_pes();                                                     \
  (f).row_me = nvshmem_team_my_pe(team);                                       \
  (f).row_n = nvshmem_team_n_pes(team);                                        \
  (f).world_of_row_0 = nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD); \
  (f).row_of_me = nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, (f).me, team); \
  (f).right = nvshmem_ptr(symmetric, ((f).me + 1) % (f).n);                    \
  (f).self = nvshmem_ptr(symmetric, (f).me);                                   \
  nvshmem_info_get_version(&(f).major, &(f).minor);                            \
  nvshmem_info_get_name((f).name);                                             \
  nvshmemx_vendor_get_version_info(&(f).vendor[0], &(f).vendor[1], &(f).vendor[2])

__global__ void look(call c) {
  facts& f = *reinterpret_cast<facts*>(c.host_dest);
  FACTS_OF(f, c.team, c.dest);
}

/// Each PE writes to its neighbour, then calls a barrier or sync. The neighbour's word must have arrived.
__global__ void barrier_or_sync(call c) {
  auto* const word = static_cast<std::uint64_t*>(c.dest);
  if (threadIdx.x == 0) nvshmem_uint64_p(word, c.bits, c.pe);
  if (c.which >= 6) nvshmem_quiet();  // a sync does not complete writes
  __syncthreads();
  const bool first = threadIdx.x == 0;
  const bool warp = threadIdx.x < 32;
  switch (c.which) {
    case 0:
      if (first) nvshmem_barrier_all();
      break;
    case 1:
      if (warp) nvshmemx_barrier_all_warp();
      break;
    case 2: nvshmemx_barrier_all_block(); break;
    case 3:
      if (first) nvshmem_barrier(c.team);
      break;
    case 4:
      if (warp) nvshmemx_barrier_warp(c.team);
      break;
    case 5: nvshmemx_barrier_block(c.team); break;
    case 6:
      if (first) nvshmem_sync_all();
      break;
    case 7:
      if (warp) nvshmemx_sync_all_warp();
      break;
    case 8: nvshmemx_sync_all_block(); break;
    case 9:
      if (first) nvshmem_team_sync(c.team);
      break;
    case 10:
      if (warp) nvshmemx_team_sync_warp(c.team);
      break;
    case 11: nvshmemx_team_sync_block(c.team); break;
    case 12:
      if (first) nvshmem_sync(c.team);
      break;
#if defined(PGAS_COMPAT_ONLY)
    case 13: nvshmemx_barrier_warpgroup(c.team); break;
#endif
    default: break;
  }
  __syncthreads();
  if (first) *c.result = nvshmem_uint64_g(word, nvshmem_my_pe());
}
#if defined(PGAS_COMPAT_ONLY)
constexpr int barriers = 14;
#else
constexpr int barriers = 13;
#endif

/// Sends data, then calls a fence, then sends a signal.
__global__ void send(call c) {
  auto* const word = static_cast<std::uint64_t*>(c.dest);
  nvshmem_uint64_p(word, c.bits, c.pe);
  nvshmem_fence();
  nvshmemx_signal_op(c.signal, c.value, c.op, c.pe);
  const std::uint64_t seen = nvshmem_signal_wait_until(c.signal, NVSHMEM_CMP_EQ, c.awaited);
  *c.result = seen == c.awaited && nvshmem_signal_fetch(c.signal) == c.awaited
                  ? *static_cast<volatile std::uint64_t*>(word)
                  : 0;
}

/// Makes rounds in which each thread stores an element just before the call that sends the elements. Threads with high
/// ranks are late, and the program calls no sync. Counts the received elements that are old.
__global__ void send_late(call c) {
  auto* const out = const_cast<std::uint64_t*>(static_cast<const std::uint64_t*>(c.source));
  auto* const in = static_cast<std::uint64_t*>(c.dest);
  const unsigned threads = c.which == 2 ? 32 : blockDim.x;
  const unsigned t = threadIdx.x;
  const bool first = t == 0;
  for (std::uint64_t round = 1; round <= c.n; ++round) {
    if (t < threads) {
      if (t >= threads / 2) {
        for (const long long begin = clock64(); clock64() - begin < 20'000;) {
        }
      }
      out[threads - 1 - t] = c.bits + round;  // another thread copies this element
      switch (c.which) {
        case 0: nvshmemx_uint64_put_signal_nbi_block(in, out, threads, c.signal, 1, c.op, c.pe); break;
        case 1: nvshmemx_uint64_put_signal_block(in, out, threads, c.signal, 1, c.op, c.pe); break;
        case 2: nvshmemx_uint64_put_signal_nbi_warp(in, out, threads, c.signal, 1, c.op, c.pe); break;
        case 3: nvshmemx_uint64_put_nbi_block(in, out, threads, c.pe); break;
        default: nvshmemx_uint64_iput_block(in, out, 1, 1, threads, c.pe); break;
      }
      if (c.which >= 3 && first) {  // one thread signals for all threads, because they leave the call together
        nvshmem_quiet();
        nvshmemx_signal_op(c.signal, 1, c.op, c.pe);
      }
      if (first) nvshmem_signal_wait_until(c.signal, NVSHMEM_CMP_GE, round);
    }
    __syncthreads();
    const int stale = __syncthreads_count(t < threads && in[t] != c.value + round ? 1 : 0);
    if (first) *c.result += static_cast<std::uint64_t>(stale);
    nvshmemx_barrier_all_block();
  }
}

#if defined(PGAS_COMPAT_ONLY)
/// Functions that NVIDIA's NVSHMEM 3.4.5 does not have.
__global__ void only_here(call c) {
  nvshmemx_qp_handle_t queue = NVSHMEMX_QP_DEFAULT;
  auto* const numbers = static_cast<double*>(c.dest);  // the area is zero
  if (threadIdx.x == 0) {
    nvshmemx_double_atomic_add(numbers, 1.5, c.pe);
    give(c, nvshmemx_double_atomic_fetch_add(numbers, 1.0, c.pe));
    nvshmemx_float_atomic_add(reinterpret_cast<float*>(numbers + 1), 1.5f, c.pe);
    nvshmemx_float_atomic_fetch_add(reinterpret_cast<float*>(numbers + 1), 1.0f, c.pe);
    nvshmemx_half_atomic_add(reinterpret_cast<half*>(numbers + 2), __float2half(1.5f), c.pe);
    nvshmemx_half_atomic_fetch_add(reinterpret_cast<half*>(numbers + 2), __float2half(1.0f), c.pe);
    nvshmemx_qp_quiet(c.pe, &queue, 1);
    nvshmemx_qp_fence(c.pe, &queue, 1);
    nvshmemx_flush();
  }
  if (threadIdx.x < 32) {
    nvshmemx_qp_quiet_warp(c.pe, &queue, 1);
    nvshmemx_qp_fence_warp(c.pe, &queue, 1);
    nvshmemx_flush_warp();
  }
  nvshmemx_qp_quiet_block(NVSHMEMX_PE_ALL, &queue, 1);
  nvshmemx_qp_fence_block(NVSHMEMX_PE_ALL, &queue, 1);
  nvshmemx_putmem_signal_counted_nbi_block(numbers + 8, c.source, 64, c.signal, c.pe);
  nvshmemx_flush_block();
  if (threadIdx.x == 0) {
    nvshmemx_signal_counted_wait_until(c.signal, 64);
    if (nvshmemx_signal_counted_load(c.signal) != 64) *c.result = 0;
    nvshmemx_signal_counted_reset(c.signal);
    if (nvshmemx_signal_counted_load(c.signal) != 0) *c.result = 0;
    nvshmemx_qp_signal_op(c.signal + 1, 9, NVSHMEM_SIGNAL_SET, c.pe, queue);
    nvshmem_signal_wait_until(c.signal + 1, NVSHMEM_CMP_EQ, 9);
    if (nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, c.dest) != nullptr) *c.result = 0;
    if (cooperative_groups::this_thread_block().thread_rank() != 0) *c.result = 0;  // nvshmem.h includes the header
  }
  __syncthreads();
  nvshmemx_double2_maxloc_reduce_block(NVSHMEM_TEAM_WORLD, static_cast<double2*>(c.dest) + 32,
                                       static_cast<const double2*>(c.source) + 16, 1);
}
#endif

#if defined(PGAS_COMPAT_ONLY)
/// Tests the regions that blocks start, and counts the errors.
__global__ void be_in_regions(call c) {
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  if (blockIdx.x % 2 == 0) attrs.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
  nvshmemx_region_handle_t handle = 0, second = 0;
  int before = -1, inside = -1, batched = -1, after = -1, wrong = 0;
  wrong += nvshmemx_region_is_active(0, &before) != NVSHMEMX_SUCCESS || before != 0;
  wrong += nvshmemx_region_start_block(&handle, &attrs) != NVSHMEMX_SUCCESS || handle == 0;
  wrong += nvshmemx_region_start_block(&second, nullptr) != NVSHMEMX_ERROR_INVALID_VALUE;
  wrong += nvshmemx_region_is_active(0, &inside) != NVSHMEMX_SUCCESS || inside != 1;
  wrong += nvshmemx_region_is_active(NVSHMEMX_REGION_HINT_BATCH_RMA, &batched) != NVSHMEMX_SUCCESS ||
           batched != (blockIdx.x % 2 == 0 ? 1 : 0);
  wrong += nvshmemx_region_stop_block(handle + 1'000'000) != NVSHMEMX_ERROR_INVALID_VALUE;
  wrong += nvshmemx_region_stop_block(handle) != NVSHMEMX_SUCCESS;
  wrong += nvshmemx_region_is_active(0, &after) != NVSHMEMX_SUCCESS || after != 0;
  wrong += nvshmemx_region_is_active(4, &after) != NVSHMEMX_ERROR_INVALID_VALUE;
  wrong += nvshmemx_status_string(NVSHMEMX_ERROR_SYMMETRY)[0] != 'N';
  if (wrong != 0) atomicAdd(reinterpret_cast<unsigned long long*>(c.result), 1ull);
}

/// Makes copies with sizes and groups for which lent memory can be used, and with sizes and groups for which lent
/// memory cannot be used. Also makes copies from lent memory, and copies to lent memory. `c.n` is the size, and
/// `c.which` selects the caller.
__global__ void copy_by_lent(call c) {
  extern __shared__ __align__(128) char room[];
  char* const tile = room + c.op;  // after the lent memory
  auto* const dest = static_cast<char*>(c.dest);
  const auto* const source = static_cast<const char*>(c.source);
  nvshmemx_give_smem(room, static_cast<std::size_t>(c.op));
  __syncthreads();
  const std::size_t each = c.n / (blockDim.x / 32);  // the bytes of a warp
  const std::size_t at = threadIdx.x / 32 * each;
  switch (c.which) {
    case 0: nvshmemx_putmem_block(dest, source, c.n, c.pe); break;
    case 1: nvshmemx_putmem_nbi_warp(dest + at, source + at, each, c.pe); break;
    case 2:
      if (threadIdx.x == 0) nvshmem_putmem(dest, source, c.n, c.pe);
      break;
    case 3: nvshmemx_getmem_block(dest, source, c.n, c.pe); break;
    case 4: nvshmemx_getmem_nbi_warp(dest + at, source + at, each, c.pe); break;
    case 5:
      for (std::size_t i = threadIdx.x; i < c.n; i += blockDim.x) tile[i] = source[i];
      nvshmemx_putmem_block(dest, tile, c.n, c.pe);
      break;
    default:
      nvshmemx_getmem_block(tile, source, c.n, c.pe);
      for (std::size_t i = threadIdx.x; i < c.n; i += blockDim.x) dest[i] = tile[i];
      break;
  }
  nvshmem_quiet();
  nvshmemx_release_smem();
  nvshmemx_barrier_all_block();
}
#endif

int failures = 0;
void say(const bench& b, const char* what, bool right) {
  if (!right) {
    ++failures;
    std::printf("PE %d: FAIL %s\n", b.me, what);
  } else if (b.me == 0) {
    std::printf("PASS %s\n", what);
  }
}

void check_facts(bench& b) {
  call c = b.prepare(function{"", 8, kind::uint});
  c.team = b.rows;
  launch(reinterpret_cast<const void*>(&look), c, 1);
  const facts seen = *reinterpret_cast<const facts*>(b.host_dest);
  facts known{};
  FACTS_OF(known, b.rows, b.dest);
  say(b, "queries: numbers", seen.me == known.me && seen.n == known.n && seen.me == b.me && seen.n == b.n);
  say(b, "queries: teams",
      seen.row_me == known.row_me && seen.row_n == known.row_n && seen.row_me == b.me % 2 &&
          seen.world_of_row_0 == b.me / 2 * 2 && seen.row_of_me == b.me % 2 &&
          known.world_of_row_0 == seen.world_of_row_0 && known.row_of_me == seen.row_of_me);
  say(b, "queries: pointers", seen.right == known.right && seen.self == known.self && seen.self == b.dest);
  say(b, "queries: versions",
      seen.major == known.major && seen.minor == known.minor && seen.vendor[0] == known.vendor[0] &&
          seen.vendor[1] == known.vendor[1] && seen.vendor[2] == known.vendor[2] && seen.vendor[0] == 3);
  say(b, "queries: name", std::strcmp(seen.name, known.name) == 0 && std::strlen(seen.name) > 0);
}

void check_launch(bench& b) {
  int blocks = 0;
  const auto kernel = reinterpret_cast<const void*>(&barrier_or_sync);
  const int status = nvshmemx_collective_launch_query_gridsize(kernel, dim3(128), nullptr, 0, &blocks);
  say(b, "largest grid", status == 0 && blocks > 0);
}

void check_barriers(bench& b) {
  for (int which = 0; which < barriers; ++which) {
    call c = b.prepare(function{"", 8, kind::uint});
    c.which = which;
    c.bits = 1000 + static_cast<std::uint64_t>(which * 16 + b.me);
    b.barrier();
    launch(reinterpret_cast<const void*>(&barrier_or_sync), c, 128);
    say(b, ("barrier " + std::to_string(which)).c_str(),
        *c.result == 1000 + static_cast<std::uint64_t>(which * 16 + b.left()));
    b.barrier();
  }
  // The host also calls these operations, and enqueues them on the stream.
  for (int which = 0; which < 8; ++which) {
    const std::uint64_t value = 2000 + static_cast<std::uint64_t>(which * 16);
    auto* const word = reinterpret_cast<std::uint64_t*>(b.dest);
    nvshmemx_uint64_p_on_stream(word, value + static_cast<std::uint64_t>(b.me), b.right(), b.stream);
    nvshmemx_quiet_on_stream(b.stream);
    if (which >= 4) cudaStreamSynchronize(b.stream);
    int status = 0;
    if (which == 0) nvshmemx_barrier_all_on_stream(b.stream);
    if (which == 1) status = nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, b.stream);
    if (which == 2) nvshmemx_sync_all_on_stream(b.stream);
    if (which == 3) status = nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, b.stream);
    if (which == 4) nvshmem_barrier_all();
    if (which == 5) status = nvshmem_barrier(NVSHMEM_TEAM_WORLD);
    if (which == 6) nvshmem_sync_all();
    if (which == 7) status = nvshmem_team_sync(NVSHMEM_TEAM_WORLD);
    cudaStreamSynchronize(b.stream);
    std::uint64_t got = 0;
    std::memcpy(&got, b.read(word, sizeof got).data(), sizeof got);
    say(b, ("barrier from the host " + std::to_string(which)).c_str(),
        status == 0 && got == value + static_cast<std::uint64_t>(b.left()));
    b.barrier();
  }
}

void check_signals(bench& b) {
  for (const int op : {int{NVSHMEM_SIGNAL_SET}, int{NVSHMEM_SIGNAL_ADD}}) {
    call c = b.prepare(function{"", 8, kind::uint});
    const std::uint64_t before = 7;
    b.write(b.signal, &before, sizeof before);
    c.op = op;
    c.value = 0x200000000u;
    c.awaited = op == NVSHMEM_SIGNAL_SET ? c.value : c.value + before;
    c.bits = 500 + static_cast<std::uint64_t>(b.me);
    b.barrier();
    launch(reinterpret_cast<const void*>(&send), c, 1);
    say(b, op == NVSHMEM_SIGNAL_SET ? "signal set" : "signal add",
        *c.result == 500 + static_cast<std::uint64_t>(b.left()));
    b.barrier();
    nvshmemx_signal_op_on_stream(b.signal, 3, NVSHMEM_SIGNAL_ADD, b.right(), b.stream);
    nvshmemx_signal_wait_until_on_stream(b.signal, NVSHMEM_CMP_EQ, c.awaited + 3, b.stream);
    cudaStreamSynchronize(b.stream);
    say(b, "signal on a stream", nvshmem_signal_fetch(b.signal) == c.awaited + 3);
    b.barrier();
  }
}

void check_late_stores(bench& b) {
  const char* const calls[] = {"put_signal_nbi_block", "put_signal_block", "put_signal_nbi_warp", "put_nbi_block",
                               "iput_block"};
  for (int which = 0; which < 5; ++which) {
    call c = b.prepare(function{"", 8, kind::uint});
    const std::uint64_t before = 0;
    b.write(b.signal, &before, sizeof before);
    c.which = which;
    c.op = NVSHMEM_SIGNAL_ADD;
    c.n = 100;
    c.bits = 1'000 * static_cast<std::uint64_t>(b.me + 1);
    c.value = 1'000 * static_cast<std::uint64_t>(b.left() + 1);
    *c.result = 0;
    b.barrier();
    launch(reinterpret_cast<const void*>(&send_late), c, 256);
    say(b, (std::string("stores of late threads before ") + calls[which]).c_str(), *c.result == 0);
    b.barrier();
  }
}

#if defined(PGAS_COMPAT_ONLY)
void check_only_here(bench& b) {
  const std::vector<unsigned char> zeros(bench::bytes);
  b.write(b.dest, zeros.data(), zeros.size());
  b.write(b.signal, zeros.data(), 64);
  auto source = random_bytes(1, b.me, 256);
  const double2 pairs[16] = {};
  source.insert(source.end(), reinterpret_cast<const unsigned char*>(pairs),
                reinterpret_cast<const unsigned char*>(pairs + 16));
  const double2 mine{b.me % 2 == 1 ? 4.0 : 3.0, static_cast<double>(b.me)};  // the first odd PE has the maximum
  std::memcpy(&source[256], &mine, sizeof mine);
  b.write(b.source, source.data(), source.size());
  call c = b.prepare(function{"", 8, kind::uint});
  b.barrier();
  launch(reinterpret_cast<const void*>(&only_here), c, 256);
  nvshmemx_flush_on_stream(b.stream);
  b.barrier();
  const auto dest = b.read(b.dest, 1024);
  double sum = 0, old = 0;
  float sum_float = 0;
  half sum_half;
  std::memcpy(&sum, &dest[0], sizeof sum);
  std::memcpy(&old, c.result, sizeof old);
  std::memcpy(&sum_float, &dest[8], sizeof sum_float);
  std::memcpy(&sum_half, &dest[16], sizeof sum_half);
  say(b, "sums of floating-point numbers",
      sum == 2.5 && old == 1.5 && sum_float == 2.5f && __half2float(sum_half) == 2.5f);
  const auto counted = random_bytes(1, b.left(), 64);
  say(b, "counted put", std::memcmp(&dest[64], counted.data(), 64) == 0);
  double2 best;
  std::memcpy(&best, &dest[512], sizeof best);
  say(b, "maxloc", b.n == 1 ? best.x == 3.0 && best.y == 0.0 : best.x == 4.0 && best.y == 1.0);
  // Functions that only this library defines for the host.
  nvshmem_fence();
  nvshmem_quiet();
  nvshmemx_signal_op(b.signal + 2, 11, NVSHMEM_SIGNAL_SET, b.right());
  say(b, "signal from the host", nvshmem_signal_wait_until(b.signal + 2, NVSHMEM_CMP_EQ, 11) == 11);
}
#endif

#if defined(PGAS_COMPAT_ONLY)
void check_regions(bench& b) {
  call c = b.prepare(function{"", 8, kind::uint});
  *c.result = 0;
  b.barrier();
  be_in_regions<<<64, 128, 0, b.stream>>>(c);
  say(b, "regions of blocks", cudaStreamSynchronize(b.stream) == cudaSuccess && *c.result == 0);
}

void check_lent(bench& b) {
  constexpr std::size_t tile = 4096;
  constexpr std::size_t most = 32 << 10;
  const std::vector<unsigned char> zeros(most);
  cudaFuncSetAttribute(copy_by_lent, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
  std::uint64_t serial = 7000;
  for (const int lent : {1136, 32 << 10, (32 << 10) + 16}) {
    for (int which = 0; which < 7; ++which) {
      for (const std::size_t n : {std::size_t{512}, tile, std::size_t{4096 - 3}, most, most - 16}) {
        if (n > bench::bytes || (which >= 5 && n > tile)) continue;
        call c = b.prepare(function{"", 8, kind::uint});
        const std::vector<unsigned char> sent = random_bytes(++serial, b.me, n);
        b.write(b.dest, zeros.data(), n);
        b.write(b.source, sent.data(), n);
        c.which = which;
        c.n = n / 4 * 4;
        c.op = lent;
        b.barrier();
        copy_by_lent<<<1, 128, static_cast<unsigned>(lent) + tile, b.stream>>>(c);
        const bool ran = cudaStreamSynchronize(b.stream) == cudaSuccess;
        b.barrier();
        const int from = which < 3 || which == 5 ? b.left() : b.right();
        const std::vector<unsigned char> known = random_bytes(serial, from, n);
        say(b,
            ("lent memory " + std::to_string(lent) + ", copy " + std::to_string(which) + " of " + std::to_string(n))
                .c_str(),
            ran && std::memcmp(b.read(b.dest, c.n).data(), known.data(), c.n) == 0);
        b.barrier();
      }
    }
  }
}
#endif

int check_special(bench& b) {
  check_facts(b);
  check_launch(b);
  check_barriers(b);
  check_signals(b);
  check_late_stores(b);
#if defined(PGAS_COMPAT_ONLY)
  check_only_here(b);
  check_regions(b);
  check_lent(b);
#endif
  b.barrier();
  return failures;
}

const bool added = (extras().push_back(&check_special), true);

}  // namespace
}  // namespace conformance
