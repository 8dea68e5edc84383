// Asynchronous copies of tiles in the shared memory of a block: puts, gets and additions, of one row and of several
// rows, at alignments that the GPU's copy unit supports and at others. Also tests the operations that order these
// copies.
#include "one_sided.hpp"
#include "stress.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

constexpr std::size_t tile_bytes = std::size_t{12} << 10;

/// Shared memory of a block: a tile and the word of an mbarrier. The CPU has no memory that only one block shares, so
/// on the CPU each block has its own memory in the heap.
struct tile_room {
  sym<unsigned char> places;

  static constexpr std::uint32_t most_blocks = 16;
  static constexpr std::size_t bytes = tile_bytes + 128;
  explicit tile_room(pe_set& pes) : places(pes.allocate<unsigned char>(most_blocks * bytes)) {}

  template <class Block>
  PGAS_FN unsigned char* at(const Block& block, const context& ctx) const {
    auto* const shared = reinterpret_cast<unsigned char*>(detail::block_memory<bytes>());
    return shared != nullptr ? shared : places.at(ctx) + static_cast<std::size_t>(block.block_rank()) * bytes;
  }
  /// The mbarrier whose word lies after the tile.
  PGAS_FN static mbarrier barrier_of(unsigned char* room) {
    return mbarrier(reinterpret_cast<std::uint64_t*>(room + tile_bytes));
  }
};

enum class kind { put, get };

struct tile_call {
  kind what;
  std::size_t length;  ///< the number of elements of a row
  std::size_t rows;
  std::size_t tile_stride;  ///< the distance of rows in the tile, in elements
  std::size_t peer_stride;
  std::size_t tile_shift;  ///< the number of elements from a boundary of 128 bytes to the tile
  bool strided;            ///< whether to use the calls for several rows
};

constexpr std::uint32_t calls = 3;  ///< the number of calls with one copier and one mbarrier

/// Each member sends to the next member, or gets from it. The data in `src` on one PE goes to the same place of `dst`
/// on the other PE, through the tile.
template <class T>
struct tile_body {
  sym<T> dst;
  sym<T> src;
  tile_room room;
  tile_call c;

  [[nodiscard]] PGAS_HD std::size_t distance() const { return c.rows * c.peer_stride + 64; }

  /// Copies between the tile and an array with the layout of `dst` and `src`.
  template <bool ToTile, class Block>
  PGAS_FN void move(const Block& block, T* tile, T* place) const {
    for (std::size_t i = block.thread_rank(); i < c.rows * c.length; i += block.size()) {
      T& inside = tile[i / c.length * c.tile_stride + i % c.length];
      T& outside = place[i / c.length * c.peer_stride + i % c.length];
      if constexpr (ToTile) {
        inside = outside;
      } else {
        outside = inside;
      }
    }
    block.sync();
  }

  PGAS_FN void send(const context& ctx, bulk_copier& by, T* to, const T* tile) const {
    const auto to_stride = static_cast<std::ptrdiff_t>(c.peer_stride);
    const auto from_stride = static_cast<std::ptrdiff_t>(c.tile_stride);
    if (c.strided)
      ibput_nbi(ctx, by, to, tile, to_stride, from_stride, c.length, c.rows, next_member(ctx));
    else
      put_nbi(ctx, by, to, tile, c.length, next_member(ctx));
    flush(by);
  }
  PGAS_FN void receive(const context& ctx, mbarrier on, T* tile, const T* from) const {
    const auto to_stride = static_cast<std::ptrdiff_t>(c.tile_stride);
    const auto from_stride = static_cast<std::ptrdiff_t>(c.peer_stride);
    on.arrive_and_expect(static_cast<std::uint32_t>(c.length * c.rows * sizeof(T)));
    if (c.strided)
      ibget_nbi(ctx, on, tile, from, to_stride, from_stride, c.length, c.rows, next_member(ctx));
    else
      get_nbi(ctx, on, tile, from, c.length, next_member(ctx));
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    unsigned char* const mine = room.at(block, ctx);
    T* const tile = reinterpret_cast<T*>(mine) + c.tile_shift;
    const mbarrier full = tile_room::barrier_of(mine);
    const bool copies = block.thread_rank() == 0;
    if (copies) full.init(1);
    block.sync();
    bulk_copier by;
    for (std::uint32_t i = 0; i < calls; ++i) {
      T* const to = dst.at(ctx) + i * distance();
      T* const from = src.at(ctx) + i * distance();
      if (c.what == kind::put) {
        move<true>(block, tile, from);
        if (copies) send(ctx, by, to, tile);
      } else {
        if (copies) receive(ctx, full, tile, from);
        full.wait(ctx, i & 1);
        move<false>(block, tile, to);
      }
      block.sync();
    }
    if (copies) {
      quiet(ctx, by);
      full.end();
    }
  }
};

template <class T>
void try_tile(pe_set& pes, const tile_room& room, const tile_call& c, std::size_t dst_shift, std::size_t src_shift) {
  ASSERT_LE((c.tile_shift + c.rows * c.tile_stride) * sizeof(T), tile_bytes);
  tile_body<T> body{{}, {}, room, c};
  const std::size_t elements = calls * body.distance();
  guarded<T> dst(pes, elements, dst_shift);
  guarded<T> src(pes, elements, src_shift);
  body.dst = dst.place();
  body.src = src.place();
  std::vector<std::vector<T>> data;
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    data.push_back(random_elements<T>(pe, elements));
    src.write(pe, data.back());
  }
  pes.run(blocks().back(), body);
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    const int source = (pe + (c.what == kind::get ? 1 : pes.n_pes() - 1)) % pes.n_pes();
    std::vector<T> expected = guarded<T>::untouched(elements);
    for (std::size_t i = 0; i < calls * c.rows * c.length; ++i) {
      const std::size_t in_call = i % (c.rows * c.length);
      const std::size_t at =
          i / (c.rows * c.length) * body.distance() + in_call / c.length * c.peer_stride + in_call % c.length;
      expected[at] = data[static_cast<std::size_t>(source)][at];
    }
    ASSERT_TRUE(same_bits(dst.read(pe), expected) && dst.guards_hold(pe) && src.guards_hold(pe))
        << (c.what == kind::put ? "put of " : "get of ") << c.rows << " rows of " << c.length << " elements of "
        << sizeof(T) << " bytes, strides " << c.tile_stride << " and " << c.peer_stride << ", shifts " << c.tile_shift
        << ", " << dst_shift << " and " << src_shift << ", PE " << pe;
  }
}

template <class T>
void tiles_of() {
  pe_set pes(3, {.heap_bytes = std::size_t{64} << 20});
  const tile_room room(pes);
  std::uint32_t turn = 0;
  for (const kind what : {kind::put, kind::get}) {
    for (const std::size_t rows : sizes{1, 0, 1, 5, 7, 2}) {
      for (const std::size_t bytes : sizes{0, 16, 48, 64, 72, 200, 512, 1000, 1024}) {
        const std::uint32_t r = mix(++turn, sizeof(T));
        const std::size_t length = bytes / sizeof(T);
        const std::size_t unit = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
        const bool odd = r % 4 == 0;  // strides that are not multiples of 16 bytes
        const std::size_t whole = (length + unit - 1) / unit * unit;
        const std::size_t shift = r / 4 % 3;
        const std::size_t other = r / 64 % 3 == 0 ? r / 256 % 5 : shift;  // different alignments on the two sides
        const tile_call c{what,
                          length,
                          rows,
                          odd ? length + r / 1024 % 3 : whole + unit * (r / 1024 % 2),
                          odd ? length + r / 4096 % 3 : whole + unit * (r / 4096 % 3),
                          shift,
                          rows != 1 || r / 16 % 2 == 0};
        ASSERT_NO_FATAL_FAILURE(
            try_tile<T>(pes, room, c, what == kind::put ? other : 0, what == kind::get ? other : 0));
      }
    }
  }
}

TEST(bulk_tile, rows_of_1_byte) { tiles_of<unsigned char>(); }
TEST(bulk_tile, rows_of_4_bytes) { tiles_of<std::uint32_t>(); }
TEST(bulk_tile, rows_of_16_bytes) { tiles_of<packet<16, 16>>(); }

/// Small integers, whose sums are exact in every format.
template <class T>
T number(int value) {
  if constexpr (is_float16_pair_type<T>) {
    T both;
    both.x = decltype(both.x)(static_cast<float>(value));
    both.y = decltype(both.y)(static_cast<float>(-value));
    return both;
  } else if constexpr (is_float16_type<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// The blocks of each member add tiles to the same elements of the next member, sometimes several rows at the same
/// time.
template <class T>
struct sums_body {
  static constexpr std::size_t row = 37;  // not a multiple of 16 bytes
  static constexpr std::size_t rows = 9;
  static constexpr std::size_t stride = 48;
  static constexpr std::size_t n = 500;
  sym<T> to;    // n elements, then the rows
  sym<T> from;  // as in `to`
  tile_room room;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    T* const tile = reinterpret_cast<T*>(room.at(block, ctx));
    const std::size_t all = n + rows * stride;
    for (std::size_t i = block.thread_rank(); i < all; i += block.size()) tile[i] = from.at(ctx)[i];
    block.sync();
    if (block.thread_rank() != 0) return;
    bulk_copier by;
    for (std::uint32_t i = 0; i < calls; ++i) {
      // Call i leaves out i elements at both ends, so that the ends are not multiples of 16 bytes.
      add_nbi(ctx, by, to.at(ctx) + i, tile + i, n - 2 * i, next_member(ctx));
      ibadd_nbi(ctx, by, to.at(ctx) + n, tile + n, stride, stride, row, rows, next_member(ctx));
    }
    quiet(ctx, by);
  }
};

template <class T>
void sums_of() {
  using body_type = sums_body<T>;
  constexpr std::size_t all = body_type::n + body_type::rows * body_type::stride;
  constexpr unsigned n_blocks = 3;
  static_assert(all * sizeof(T) <= tile_bytes);
  pe_set pes(2);
  guarded<T> to(pes, all, 0);
  const body_type body{to.place(), pes.allocate<T>(all), tile_room(pes)};
  const auto tile_at = [](int pe, std::size_t i) {
    return static_cast<int>(mix(static_cast<std::uint32_t>(i), 7) % 9) - pe;
  };
  for (int pe = 0; pe < 2; ++pe) {
    std::vector<T> first(all);
    std::vector<T> each(all);
    for (std::size_t i = 0; i < all; ++i) {
      first[i] = number<T>(static_cast<int>(i % 11));
      each[i] = number<T>(tile_at(pe, i));
    }
    to.write(pe, first);
    pes.write(pe, body.from, each.data(), all);
  }
  pes.run({n_blocks, blocks().back().threads}, body);
  for (int pe = 0; pe < 2; ++pe) {
    std::vector<T> expected(all);
    for (std::size_t i = 0; i < all; ++i) {
      int times = 0;
      for (std::size_t call = 0; call < calls; ++call) {
        const bool in_line = i >= call && i < body_type::n - call;
        const bool in_rows = i >= body_type::n && (i - body_type::n) % body_type::stride < body_type::row;
        times += in_line || in_rows ? 1 : 0;
      }
      expected[i] = number<T>(static_cast<int>(i % 11) + static_cast<int>(n_blocks) * times * tile_at(1 - pe, i));
    }
    EXPECT_EQ(first_difference(to.read(pe), expected), all) << "PE " << pe << ", elements of " << sizeof(T) << " bytes";
    EXPECT_TRUE(to.guards_hold(pe)) << "PE " << pe;
  }
}

TEST(bulk_tile, sums_of_floats) {
  sums_of<float>();
  sums_of<double>();
}
TEST(bulk_tile, sums_of_integers) {
  sums_of<std::int32_t>();
  sums_of<std::uint64_t>();
}
TEST(bulk_tile, sums_of_16_bit_numbers) {
  sums_of<float16>();
  sums_of<bfloat16>();
  sums_of<bfloat16_pair>();
}

/// Wrong arguments of PE 0, and an mbarrier phase that lacks bytes.
enum class mistake { no_such_pe, rows_outside, add_outside, get_outside, too_few_bytes };

struct mistaken {
  sym<float> data;
  tile_room room;
  mistake what;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.thread_rank() != 0 || ctx.my_pe() != 0) return;
    unsigned char* const mine = room.at(block, ctx);
    float* const tile = reinterpret_cast<float*>(mine);
    const mbarrier full = tile_room::barrier_of(mine);
    full.init(1);
    bulk_copier by;
    float* const remote = data.at(ctx);
    switch (what) {
      case mistake::no_such_pe: put_nbi(ctx, by, remote, tile, 16, ctx.n_pes()); break;
      case mistake::rows_outside: ibput_nbi(ctx, by, remote, tile, std::ptrdiff_t{1} << 30, 16, 16, 2, 1); break;
      case mistake::add_outside: add_nbi(ctx, by, remote - (std::ptrdiff_t{1} << 30), tile, 16, 1); break;
      case mistake::get_outside: get_nbi(ctx, full, tile, remote + (std::ptrdiff_t{1} << 30), 16, 1); break;
      case mistake::too_few_bytes:
        full.arrive_and_expect(80);
        get_nbi(ctx, full, tile, remote, 16, 1);
        full.wait(ctx, 0);
        break;
    }
    full.end();
  }
};

void expect_mistake(mistake what, detail::operation where, detail::failure why) {
  pe_set pes(2, {.checks = true, .timeout = std::chrono::milliseconds(60)});
  expect_caught(pes, mistaken{pes.allocate<float>(64), tile_room(pes), what}, where, why);
}

TEST(bulk_tile, bad_arguments_are_caught) {
  using detail::failure;
  using detail::operation;
  expect_mistake(mistake::no_such_pe, operation::put, failure::pe_out_of_range);
  expect_mistake(mistake::rows_outside, operation::iput, failure::outside_heap);
  expect_mistake(mistake::add_outside, operation::atomic_add, failure::outside_heap);
  expect_mistake(mistake::get_outside, operation::get, failure::outside_heap);
}
TEST(bulk_tile, a_phase_that_lacks_bytes_ends_all_waiting_threads) {
  expect_mistake(mistake::too_few_bytes, detail::operation::bulk_copy, detail::failure::timed_out);
}

}  // namespace
