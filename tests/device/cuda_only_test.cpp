// Features that only a GPU has: cooperative groups as groups, sources in memory of every kind, caches that are not
// invalidated, a copy unit, and copies of more than 4 GiB.
#include <cooperative_groups.h>

#include "harness.hpp"
#include "try_barrier.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;
namespace cg = cooperative_groups;

/// Executes put, get, waits, votes and a barrier by `group`. Each PE has one group.
template <class Group>
PGAS_FN void exercise(const context& ctx, const Group& group, std::uint32_t* inbox, std::uint32_t* outbox,
                      signal_t* sig, std::uint64_t round, const findings& found) {
  constexpr std::uint32_t n = 3000;
  const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
  const std::int32_t left = (ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes();
  const auto rank = static_cast<std::uint32_t>(group.thread_rank());
  const auto size = static_cast<std::uint32_t>(group.size());
  const auto seed = static_cast<std::uint32_t>(round);
  for (std::uint32_t i = rank; i < n; i += size) outbox[i] = mix(i, seed, static_cast<std::uint32_t>(ctx.my_pe()));
  group.sync();
  put_signal(ctx, group, inbox, outbox, n, sig, 1, signal_op::add, right);
  found.equal(ctx, 1, std::size_t{0}, wait_until_any(ctx, group, sig, 1, nullptr, cmp::ge, round));
  found.check(ctx, 2, test(ctx, group, sig, cmp::ge, round));
  wait_until(ctx, group, sig, cmp::ge, round);
  for (std::uint32_t i = rank; i < n; i += size) {
    found.equal(ctx, round << 32 | i, mix(i, seed, static_cast<std::uint32_t>(left)), inbox[i]);
  }
  barrier(ctx, group);
  get(ctx, group, outbox, inbox + 1, n - 1, right);
  for (std::uint32_t i = rank; i < n - 1; i += size) {
    found.equal(ctx, round << 32 | i, mix(i + 1, seed, static_cast<std::uint32_t>(ctx.my_pe())), outbox[i]);
  }
  found.check(ctx, 3, try_barrier<detail::arrival::release>(ctx, group, ctx.world()));
}

struct cooperative {
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<signal_t> sig;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block&, const context& ctx) const {
    const cg::thread_block block = cg::this_thread_block();
    exercise(ctx, block, inbox.at(ctx), outbox.at(ctx), sig.at(ctx), 1, found);
    const auto tile = cg::tiled_partition<16>(block);
    if (tile.meta_group_rank() == 1) exercise(ctx, tile, inbox.at(ctx), outbox.at(ctx), sig.at(ctx), 2, found);
    block.sync();
    if (threadIdx.x >= 64 && threadIdx.x % 3 == 0 && threadIdx.x < 96) {
      exercise(ctx, cg::coalesced_threads(), inbox.at(ctx), outbox.at(ctx), sig.at(ctx), 3, found);
    }
    block.sync();
  }
};

TEST(cuda, cooperative_groups_are_groups) {
  for (int n : {1, 2, 4}) {
    pe_set pes(n);
    const cooperative body{pes.allocate<std::uint32_t>(3000), pes.allocate<std::uint32_t>(3000),
                           pes.allocate<signal_t>(1), make_findings(pes)};
    pes.run({1, 256}, body);
    expect_nothing_found(pes, body.found);
  }
}

/// Shared memory as the local side of put and get, at every alignment of 4 bytes.
struct from_shared {
  sym<std::uint32_t> inbox;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    __shared__ std::uint32_t tile[2048];
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    const std::uint32_t rank = block.thread_rank();
    for (std::uint32_t shift = 0; shift < 4; ++shift) {
      for (std::uint32_t i = rank; i < 2048; i += block.size()) tile[i] = mix(i, shift);
      block.sync();
      put(ctx, block, inbox.at(ctx), tile + shift, 2000, right);
      for (std::uint32_t i = rank; i < 2048; i += block.size()) tile[i] = 0;
      barrier(ctx, block);
      for (std::uint32_t i = rank; i < 2000; i += block.size())
        found.equal(ctx, i, mix(i + shift, shift), inbox.at(ctx)[i]);
      get(ctx, block, tile + shift, inbox.at(ctx), 2000, right);
      for (std::uint32_t i = rank; i < 2000; i += block.size())
        found.equal(ctx, i, mix(i + shift, shift), tile[i + shift]);
      barrier(ctx, block);
    }
  }
};

TEST(cuda, local_side_in_shared_memory) {
  pe_set pes(2);
  const from_shared body{pes.allocate<std::uint32_t>(2048), make_findings(pes)};
  for (unsigned threads : {32u, 256u, 1024u}) pes.run({1, threads}, body);
  expect_nothing_found(pes, body.found);
}

/// Sources in memory of every kind. The copy unit cannot read a kernel's argument, constants, the shared memory of
/// another block, or a stack. It can read the shared memory of its own block.
struct table {
  static constexpr std::uint32_t words = 256;
  std::uint32_t word[words];
};
__constant__ table constants;

struct any_memory {
  static constexpr std::uint32_t parts = 5;
  sym<std::uint32_t> inbox;
  sym<signal_t> sig;
  findings found;
};

__global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1)
    put_from_any_memory([[maybe_unused]] context ctx, [[maybe_unused]] any_memory body,
                        [[maybe_unused]] const __grid_constant__ table argument) {
#if defined(_CG_HAS_CLUSTER_GROUP)
  __shared__ alignas(128) std::byte room[9 << 10];
  __shared__ alignas(16) table tile;
  constexpr std::uint32_t n = table::words;
  const cg::cluster_group cluster = cg::this_cluster();
  const std::uint32_t block = cluster.block_rank();
  for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) tile.word[i] = mix(i, block == 0 ? 4 : 2);
  cluster.sync();
  std::uint32_t* const remote = cluster.map_shared_rank(tile.word, 1);
  if (block == 0 && threadIdx.x == 0) {
    alignas(16) table own;
    for (std::uint32_t i = 0; i < n; ++i) own.word[i] = mix(i, 3);
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    const std::uint32_t* const from[any_memory::parts] = {argument.word, constants.word, remote, own.word, tile.word};
    bulk_copier by(room, sizeof room);
    std::uint32_t* const to = body.inbox.at(ctx);
    PGAS_ROLLED
    for (std::uint32_t part = 0; part < any_memory::parts; ++part) put(ctx, by, to + part * n, from[part], n, right);
    put_signal(ctx, by, to, argument.word, n, body.sig.at(ctx), 1, signal_op::set, right);
    wait_until(ctx, body.sig.at(ctx), cmp::eq, 1);
    for (std::uint32_t i = 0; i < any_memory::parts * n; ++i) body.found.equal(ctx, i, mix(i % n, i / n), to[i]);
    get(ctx, by, remote, to + n, n, right);  // reads the constants
  }
  cluster.sync();
  if (block == 1) {
    for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) body.found.equal(ctx, i, mix(i, 1), tile.word[i]);
  }
#endif
}

bool have_copy_unit() {
  int major = 0;
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "compute capability");
  return major >= 9;
}

TEST(cuda, bulk_copies_of_any_memory) {
  if (!have_copy_unit()) GTEST_SKIP() << "this GPU has no thread block clusters";
  pe_set pes(2);
  const any_memory body{pes.allocate<std::uint32_t>(any_memory::parts * table::words), pes.allocate<signal_t>(1),
                        make_findings(pes)};
  table argument{};
  table fixed{};
  for (std::uint32_t i = 0; i < table::words; ++i) {
    argument.word[i] = mix(i, 0);
    fixed.word[i] = mix(i, 1);
  }
  std::vector<cudaStream_t> streams(2);
  const int used = gpus() < 2 ? gpus() : 2;
  for (int pe = 0; pe < 2; ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    must(cudaMemcpyToSymbol(constants, &fixed, sizeof fixed), "constants");
    cudaFuncAttributes attributes{};
    must(cudaFuncGetAttributes(&attributes, put_from_any_memory), "load the kernel");
    must(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(pe)], cudaStreamNonBlocking), "stream");
    must(cudaDeviceSynchronize(), "constants");
  }
  for (int pe = 0; pe < 2; ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    put_from_any_memory<<<2, 128, 0, streams[static_cast<std::size_t>(pe)]>>>(pes.context_of(pe), body, argument);
    must(cudaGetLastError(), "launch");
  }
  for (int pe = 0; pe < 2; ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    must(cudaStreamSynchronize(streams[static_cast<std::size_t>(pe)]), "kernel");
    must(cudaStreamDestroy(streams[static_cast<std::size_t>(pe)]), "stream");
  }
  expect_nothing_found(pes, body.found);
}

/// A copier whose memory was changed by other code: its first barrier counts bytes that are never sent.
struct spoilt_copier {
  sym<std::uint32_t> src;
  sym<std::uint32_t> dst;
  sym<std::uint32_t> returned;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
#if defined(PGAS_HAS_BULK_COPIES)
    __shared__ alignas(128) std::byte room[9 << 10];
    if (block.thread_rank() != 0) return;
    bulk_copier by(room, sizeof room);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(detail::barrier_of(*by.ring(), 0))
                 : "memory");
    put(ctx, by, dst.at(ctx), src.at(ctx), 4096, ctx.my_pe());
    *returned.at(ctx) = 1;
#endif
  }
};

TEST(cuda, a_bulk_copy_that_does_not_arrive_ends_its_thread) {
  if (!have_copy_unit()) GTEST_SKIP() << "this GPU has no copy unit";
  pe_set pes(1, {.timeout = std::chrono::milliseconds(60)});
  const spoilt_copier body{pes.allocate<std::uint32_t>(4096), pes.allocate<std::uint32_t>(4096),
                           pes.allocate<std::uint32_t>(1)};
  const std::vector<bool> gave_up = pes.run_out({1, 32}, body);
  ASSERT_TRUE(gave_up[0]);
  EXPECT_EQ(pes.control(0).record.what, detail::operation::bulk_copy);
  EXPECT_EQ(pes.control(0).record.why, detail::failure::timed_out);
  std::uint32_t returned = 1;
  pes.read(0, body.returned, &returned, 1);
  EXPECT_EQ(returned, 0u);
}

/// PE 0 repeatedly gets the same words of PE 1, without a wait or fence in between, until it sees the values that PE 1
/// writes during this time.
struct repeated_gets {
  static constexpr std::uint32_t most = 3000;
  static constexpr std::uint64_t patience_ns = 5'000'000'000;

  sym<std::uint32_t> words;
  sym<std::uint32_t> copy;
  sym<signal_t> seen;
  findings found;
  std::uint32_t n = 0;
  std::uint32_t shift = 0;  ///< the number of words by which the alignments of the source and of the copy differ
  scope by = scope::thread;

  template <class Group>
  PGAS_FN void poll(const context& ctx, const Group& group, std::uint32_t round) const {
    const auto rank = static_cast<std::uint32_t>(group.thread_rank());
    const auto size = static_cast<std::uint32_t>(group.size());
    const std::uint64_t start = detail::clock_ns();
    bool missing = true;
    while (missing && !detail::any(group, detail::clock_ns() - start > patience_ns)) {
      if (round % 2 != 0) {
        get(ctx, group, copy.at(ctx), words.at(ctx) + shift, n, 1);
      } else {
        iget(ctx, group, copy.at(ctx), words.at(ctx) + shift, 1, 1, n, 1);
      }
      bool mine = false;
      for (std::uint32_t i = rank; i < n; i += size) mine = mine || copy.at(ctx)[i] != round;
      missing = detail::any(group, mine);
    }
    found.check(ctx, round, !missing);
    if (rank == 0) signal_set(ctx, seen.at(ctx), round, 1);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    for (std::uint32_t round = 1; round <= 6; ++round) {
      if (ctx.my_pe() == 0) {
        with_scope(by, block, [&](const auto& group) { poll(ctx, group, round); });
      } else if (block.thread_rank() == 0) {
        const std::uint64_t start = detail::clock_ns();
        while (detail::clock_ns() - start < 100'000u) detail::yield_waiting();  // PE 0 has the old values
        for (std::uint32_t i = 0; i < n; ++i) p(ctx, words.at(ctx) + shift + i, round, 1);
        wait_until(ctx, seen.at(ctx), cmp::ge, signal_t{round});
      }
    }
  }
};

TEST(cuda, repeated_gets_see_what_has_changed) {
  pe_set pes(2);
  repeated_gets body{pes.allocate<std::uint32_t>(repeated_gets::most + 4),
                     pes.allocate<std::uint32_t>(repeated_gets::most), pes.allocate<signal_t>(1), make_findings(pes)};
  for (const scope by : all_scopes) {
    for (const std::uint32_t n : {1u, 4u, 33u, 600u, repeated_gets::most}) {
      for (const std::uint32_t shift : {0u, 1u}) {
        pes.fill(0, body.copy, 0, repeated_gets::most);
        pes.fill(1, body.words, 0, repeated_gets::most + 4);
        pes.fill(1, body.seen, 0, 1);
        body.by = by;
        body.n = n;
        body.shift = shift;
        pes.run({1, 256}, body);
      }
    }
  }
  expect_nothing_found(pes, body.found);
}

/// One copy of more than 4 GiB by block 0. All blocks fill and check the memory.
struct huge {
  sym<std::uint32_t> src;
  sym<std::uint32_t> dst;
  std::size_t count;
  findings found;
  int phase;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::size_t rank = global_rank(block);
    const std::size_t size = global_size(block);
    const auto value = [](std::size_t i) {
      return mix(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32));
    };
    if (phase == 0) {
      for (std::size_t i = rank; i < count; i += size) src.at(ctx)[i] = value(i);
    } else if (phase == 1) {
      if (ctx.my_pe() == 0 && block.block_rank() == 0) put(ctx, block, dst.at(ctx), src.at(ctx), count, 1);
    } else if (ctx.my_pe() == 1) {
      for (std::size_t i = rank; i < count; i += size) found.equal(ctx, i, value(i), dst.at(ctx)[i]);
    }
  }
};

TEST(cuda, more_than_4_gib_at_once) {
  constexpr std::size_t count = (std::size_t{1} << 30) + 1001;
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  must(cudaMemGetInfo(&free_bytes, &total), "memory");
  if (free_bytes < std::size_t{24} << 30) GTEST_SKIP() << "needs 24 GiB of GPU memory";
  pe_set pes(2, {.heap_bytes = std::size_t{9} << 30});
  huge body{pes.allocate<std::uint32_t>(count), pes.allocate<std::uint32_t>(count), count, make_findings(pes), 0};
  for (; body.phase < 3; ++body.phase) pes.run({128, 1024}, body);
  expect_nothing_found(pes, body.found);
}

}  // namespace
