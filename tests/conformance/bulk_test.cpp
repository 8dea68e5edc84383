// Copies by single threads through the shared memory of their block: sizes and alignments around the sizes of the
// stages, shared memory of every size, several threads of a block at the same time, and copies directly to and from
// shared memory.
#include "one_sided.hpp"

#if defined(__CUDACC__)
#include <cuda/ptx>
#endif

namespace {

using namespace pgas;
using namespace pgas_test;

enum class kind { put, get, put_signal };
constexpr kind all_kinds[] = {kind::put, kind::get, kind::put_signal};

/// The memory of this PE's side of a copy.
enum class side { global, shared };

struct bulk_call {
  kind what;
  side local;
  std::size_t count;       ///< the number of elements of each copy
  std::size_t room_bytes;  ///< the bytes of shared memory of each copier
  std::size_t distance;    ///< the number of elements from one thread's part to the next thread's part
};

constexpr std::uint32_t copiers = 2;  ///< the number of threads of a block that copy, each with its own shared memory
constexpr std::uint32_t calls = 3;    ///< the number of calls of each thread, one after another with the same copier
constexpr std::size_t most_room = std::size_t{17} << 10;
/// The largest number of bytes of a copy to or from shared memory.
constexpr std::size_t most_shared = std::size_t{6} << 10;

/// Each member puts to the next member, or gets from it.
template <class T>
struct bulk_body {
  sym<T> dst;
  sym<T> src;
  sym<signal_t> sig;
  bulk_call c;

  PGAS_FN void call(const context& ctx, bulk_copier& by, T* to, const T* from, std::int32_t pe) const {
    switch (c.what) {
      case kind::put: return put(ctx, by, to, from, c.count, pe);
      case kind::get: return get(ctx, by, to, from, c.count, pe);
      case kind::put_signal: return put_signal(ctx, by, to, from, c.count, sig.at(ctx), 5, signal_op::add, pe);
    }
  }

  /// The copies of one thread.
  /// @param tile the thread's shared memory, with the same distance from a boundary of 16 bytes as its global memory
  PGAS_FN void copy_all(const context& ctx, bulk_copier& by, std::uint32_t which, T* tile) const {
    const std::int32_t pe = (ctx.my_pe() + 1) % ctx.n_pes();
    for (std::uint32_t i = 0; i < calls; ++i) {
      T* const to = dst.at(ctx) + (which * calls + i) * c.distance;
      const T* const from = src.at(ctx) + (which * calls + i) * c.distance;
      if (c.local == side::global) {
        call(ctx, by, to, from, pe);
      } else if (c.what == kind::get) {
        call(ctx, by, tile, from, pe);
        for (std::size_t k = 0; k < c.count; ++k) to[k] = tile[k];
      } else {
        for (std::size_t k = 0; k < c.count; ++k) tile[k] = from[k];
        call(ctx, by, to, tile, pe);
        for (std::size_t k = 0; k < c.count; ++k) tile[k] = T{};  // the source has been read
      }
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
#if defined(__CUDACC__)
    __shared__ alignas(128) std::byte rooms[copiers * most_room];
    __shared__ alignas(128) std::byte tiles[copiers * most_shared];
#else
    static thread_local std::byte rooms[copiers * most_room];
    alignas(128) static thread_local std::byte tiles[copiers * most_shared];
#endif
    const std::uint32_t step = block.size() / copiers;
    const std::uint32_t which = step == 0 ? block.thread_rank() : block.thread_rank() / step;
    if (which < copiers && (step == 0 || block.thread_rank() % step == 0)) {
      bulk_copier by(rooms + which * most_room, c.room_bytes);
      const auto off = reinterpret_cast<std::uintptr_t>(c.what == kind::get ? src.at(ctx) : dst.at(ctx)) % 16;
      copy_all(ctx, by, which, reinterpret_cast<T*>(tiles + which * most_shared + off));
    }
    block.sync();
  }
};

template <class T>
void try_bulk(pe_set& pes, grid_shape grid, const bulk_call& c, std::size_t dst_shift, std::size_t src_shift) {
  const std::size_t elements = copiers * calls * c.distance;
  guarded<T> dst(pes, elements, dst_shift);
  guarded<T> src(pes, elements, src_shift);
  const auto sig = pes.allocate<signal_t>(1);
  std::vector<std::vector<T>> data;
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    data.push_back(random_elements<T>(pe, elements));
    src.write(pe, data.back());
  }
  pes.run(grid, bulk_body<T>{dst.place(), src.place(), sig, c});
  const unsigned threads = grid.threads < copiers ? grid.threads : copiers;
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    const int source = (pe + (c.what == kind::get ? 1 : pes.n_pes() - 1)) % pes.n_pes();
    std::vector<T> expected = guarded<T>::untouched(elements);
    for (std::size_t part = 0; part < threads * calls; ++part) {
      for (std::size_t i = part * c.distance; i < part * c.distance + c.count; ++i)
        expected[i] = data[static_cast<std::size_t>(source)][i];
    }
    signal_t seen = 0;
    pes.read(pe, sig, &seen, 1);
    EXPECT_EQ(seen, c.what == kind::put_signal ? signal_t{5} * threads * calls : 0u);
    ASSERT_TRUE(same_bits(dst.read(pe), expected) && dst.guards_hold(pe) && src.guards_hold(pe))
        << "kind " << static_cast<int>(c.what) << (c.local == side::shared ? ", shared, " : ", ") << c.count << " of "
        << sizeof(T) << " bytes, room " << c.room_bytes << ", shifts " << dst_shift << " and " << src_shift << ", PE "
        << pe << ", " << grid.threads << " threads";
  }
}

/// A call for parts of `bytes` bytes. The distance between two parts gives all parts the same alignment.
template <class T>
bulk_call call_of(kind what, side local, std::size_t bytes, std::size_t room_bytes) {
  const std::size_t count = bytes / sizeof(T);
  return {what, local, count, room_bytes, (count + 63) / 16 * 16};
}

template <class T>
void bulk_copies_of() {
  pe_set pes(3, {.heap_bytes = std::size_t{64} << 20});
  std::uint32_t turn = 0;
  for (const kind what : all_kinds) {
    for (const std::size_t room : sizes{100, 2200, std::size_t{8} << 10, most_room}) {
      for (const std::size_t bytes : sizes{0, 8, 500, 2048, 2056, 16384, 16400, 100008}) {
        const std::uint32_t r = mix(++turn, sizeof(T));
        const std::size_t shift = r % 3;
        const bulk_call c = call_of<T>(what, side::global, bytes, room);
        ASSERT_NO_FATAL_FAILURE(try_bulk<T>(pes, blocks().back(), c, shift, r / 8 % 4 == 0 ? r / 32 % 5 : shift));
      }
    }
    for (const std::size_t bytes : sizes{16, 520, 4096, 5000}) {
      const bulk_call c = call_of<T>(what, side::shared, bytes, most_room);
      const std::size_t shift = mix(++turn) % 3;
      ASSERT_NO_FATAL_FAILURE(try_bulk<T>(pes, blocks().back(), c, shift, shift));
    }
  }
}

TEST(bulk, copies_of_1_byte) { bulk_copies_of<unsigned char>(); }
TEST(bulk, copies_of_8_bytes) { bulk_copies_of<std::uint64_t>(); }
TEST(bulk, copies_of_16_bytes) { bulk_copies_of<packet<16, 16>>(); }

/// A thread sends data that it has stored itself. The copy unit reads memory by a different path than the stores.
struct relay {
  static constexpr std::size_t words = 2000;
  static constexpr std::uint32_t rounds = 50;

  sym<std::uint64_t> src;
  sym<std::uint64_t> dst;
  sym<signal_t> sig;
  findings found;

  PGAS_FN static std::uint64_t word_of(std::int32_t pe, std::uint32_t round, std::size_t i) {
    return mix64(static_cast<std::uint32_t>(pe), round, static_cast<std::uint32_t>(i));
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
#if defined(__CUDACC__)
    __shared__ alignas(128) std::byte room[most_room];
#else
    static thread_local std::byte room[most_room];
#endif
    const std::int32_t to = (ctx.my_pe() + 1) % ctx.n_pes();
    const std::int32_t from = (ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes();
    const bool sends = block.thread_rank() == 0;
    bulk_copier by(room, sends ? sizeof room : 0);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::size_t i = block.thread_rank(); i < words; i += block.size())
        src.at(ctx)[i] = word_of(ctx.my_pe(), round, i);
      block.sync();
      if (sends) put_signal(ctx, by, dst.at(ctx), src.at(ctx), words, sig.at(ctx), round, signal_op::set, to);
      signal_wait_until(ctx, block, sig.at(ctx), cmp::ge, round);
      for (std::size_t i = block.thread_rank(); i < words; i += block.size())
        found.check(ctx, round, load_plainly(ctx, dst.at(ctx) + i, ctx.my_pe()) == word_of(from, round, i));
      barrier(ctx, block, ctx.team());
    }
  }
};

TEST(bulk, sends_what_threads_have_just_written) {
  pe_set pes(3);
  for (const grid_shape& grid : blocks()) {
    const relay body{pes.allocate<std::uint64_t>(relay::words), pes.allocate<std::uint64_t>(relay::words),
                     pes.allocate<signal_t>(1), make_findings(pes)};
    pes.run(grid, body);
    expect_nothing_found(pes, body.found);
  }
}

/// Each member sends to the next member by bulk copies that the test starts itself, as programs with TMA do, followed
/// by signals. The next member fetches the data in the same way. On devices without bulk copies, plain copies are used.
struct own_copies {
  static constexpr std::uint32_t n = 1024;
  static constexpr std::uint32_t bytes = n * sizeof(std::uint32_t);

  sym<std::uint32_t> inbox;
  sym<signal_t> sig;
  findings found;
  std::uint32_t n_rounds;

#if defined(PGAS_HAS_BULK_COPIES)
  PGAS_FN static void store(std::uint32_t* to, const std::uint32_t* tile) {
    using namespace cuda::ptx;
    cuda::ptx::fence_proxy_async();  // threads have written the tile
    cp_async_bulk(space_global, space_shared, to, tile, std::uint32_t{bytes});
    cp_async_bulk_commit_group();
  }
  PGAS_FN static void load(std::uint32_t* tile, const std::uint32_t* from) {
    using namespace cuda::ptx;
    __shared__ std::uint64_t came;
    mbarrier_init(&came, 1);
    cuda::ptx::fence_proxy_async(space_shared);
    cp_async_bulk(space_cluster, space_global, tile, from, std::uint32_t{bytes}, &came);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &came, std::uint32_t{bytes});
    while (!mbarrier_try_wait_parity(&came, 0)) {
    }
    detail::mbarrier_end(detail::shared_address(&came));
  }
#else
  PGAS_FN static void store(std::uint32_t* to, const std::uint32_t* tile) { load(to, tile); }
  PGAS_FN static void load(std::uint32_t* to, const std::uint32_t* from) {
    for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
  }
#endif

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
#if defined(__CUDACC__)
    __shared__ alignas(128) std::uint32_t tile[n];
#else
    static thread_local std::uint32_t tile[n];
#endif
    if (block.thread_rank() != 0) return;
    const std::int32_t next = next_member(ctx);
    std::uint32_t* const in = inbox.at(ctx);
    PGAS_ROLLED
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      for (std::uint32_t i = 0; i < n; ++i) tile[i] = mix(i, round, static_cast<std::uint32_t>(ctx.my_pe()));
      store(ctx.remote(in, next), tile);
      bulk_wait_all();
      put_signal(ctx, in, in, 0, sig.at(ctx), round + 1, signal_op::set, next);
      wait_until(ctx, sig.at(ctx), cmp::ge, round + 1);
      fence_proxy_async();
      load(tile, in);
      for (std::uint32_t i = 0; i < n; ++i)
        found.equal(ctx, round, mix(i, round, static_cast<std::uint32_t>(last_member(ctx))), tile[i]);
      barrier(ctx);
    }
  }
};

TEST(bulk, copies_of_the_program_meet_signals) {
  pe_set pes(3, {.domain = 3});
  const own_copies body{pes.allocate<std::uint32_t>(own_copies::n), pes.allocate<signal_t>(1), make_findings(pes),
                        static_cast<std::uint32_t>(rounds(2'000))};
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
}

}  // namespace
