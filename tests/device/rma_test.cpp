// p, g, put and get: data of every type, size, alignment and scope arrives complete, and no other memory changes.
#include <algorithm>
#include <cstring>

#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

struct three_bytes {
  std::uint8_t a, b, c;
};
struct three_floats {
  float x, y, z;
};
struct alignas(16) four_words {
  std::uint32_t a, b, c, d;
};
struct three_doubles {
  double x, y, z;
};

PGAS_FN std::uint8_t make(std::uint32_t seed, std::uint8_t*) { return static_cast<std::uint8_t>(seed); }
PGAS_FN std::int16_t make(std::uint32_t seed, std::int16_t*) { return static_cast<std::int16_t>(seed); }
PGAS_FN float make(std::uint32_t seed, float*) { return static_cast<float>(seed % 1000) / 4; }
PGAS_FN std::uint64_t make(std::uint32_t seed, std::uint64_t*) { return std::uint64_t{seed} << 32 | mix(seed); }
PGAS_FN three_bytes make(std::uint32_t seed, three_bytes*) {
  return {static_cast<std::uint8_t>(seed), static_cast<std::uint8_t>(seed >> 8), static_cast<std::uint8_t>(seed >> 16)};
}
PGAS_FN three_floats make(std::uint32_t seed, three_floats*) {
  return {make(seed, static_cast<float*>(nullptr)), 2, 3};
}
PGAS_FN four_words make(std::uint32_t seed, four_words*) { return {seed, seed + 1, seed + 2, seed + 3}; }
PGAS_FN three_doubles make(std::uint32_t seed, three_doubles*) { return {static_cast<double>(seed), -1.5, 1e300}; }

template <class T>
PGAS_FN bool same(const T& a, const T& b) {
  const auto* x = reinterpret_cast<const unsigned char*>(&a);
  const auto* y = reinterpret_cast<const unsigned char*>(&b);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

/// Each thread sends one value to the right, reads it back, and checks the value that came from the left.
template <class T>
struct p_and_g {
  sym<T> cells;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::uint32_t rank = global_rank(block);
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    const std::int32_t left = (ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes();
    T* const cell = cells.at(ctx) + rank;
    p(ctx, cell, make(mix(static_cast<std::uint32_t>(ctx.my_pe()), rank), cell), right);
    quiet(ctx);
    const T mine = make(mix(static_cast<std::uint32_t>(ctx.my_pe()), rank), cell);
    found.check(ctx, 1, same(g(ctx, cell, right), mine));
    block.sync();
    if (block.num_blocks() == 1) {
      barrier(ctx, block);
      const T theirs = make(mix(static_cast<std::uint32_t>(left), rank), cell);
      found.check(ctx, 2, same(*cell, theirs));
      found.check(ctx, 3, same(g(ctx, cell, ctx.my_pe()), theirs));
    }
  }
};

template <class T>
void values_of_type() {
  for (int n : {1, 2, 4}) {
    for (const grid_shape& shape : grids()) {
      pe_set pes(n);
      const auto cells = pes.allocate<T>(4096);
      const findings found = make_findings(pes);
      pes.run(shape, p_and_g<T>{cells, found});
      expect_nothing_found(pes, found);
    }
  }
}

TEST(rma, values_of_1_byte) { values_of_type<std::uint8_t>(); }
TEST(rma, values_of_2_bytes) { values_of_type<std::int16_t>(); }
TEST(rma, values_of_4_bytes) { values_of_type<float>(); }
TEST(rma, values_of_8_bytes) { values_of_type<std::uint64_t>(); }
TEST(rma, values_of_16_bytes) { values_of_type<four_words>(); }
TEST(rma, values_of_odd_structs) {
  values_of_type<three_bytes>();
  values_of_type<three_floats>();
  values_of_type<three_doubles>();
}

/// Copies `count` elements once, by a put to the right or a get from the right.
template <class T>
struct copy_once {
  sym<T> dst;
  sym<T> src;
  std::size_t count;
  scope by;
  bool get_it;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    if (block.block_rank() == 0) {
      with_scope(by, block, [&](const auto& group) {
        if (get_it) {
          get(ctx, group, dst.at(ctx), src.at(ctx), count, right);
        } else {
          put(ctx, group, dst.at(ctx), src.at(ctx), count, right);
        }
      });
    }
  }
};

/// Runs copy_once and compares the whole destination and its surroundings on every PE.
template <class T>
void copies(int n, const grid_shape& shape, std::size_t count, std::size_t misaligned_by) {
  constexpr std::size_t around = 64;
  const std::size_t bytes = count * sizeof(T);
  pe_set pes(n);
  const auto src = pes.allocate<std::byte>(bytes + 2 * around);
  const auto dst = pes.allocate<std::byte>(bytes + 2 * around);
  std::vector<std::vector<std::byte>> data(static_cast<std::size_t>(n));
  for (int pe = 0; pe < n; ++pe) {
    auto& mine = data[static_cast<std::size_t>(pe)];
    mine.resize(bytes + 2 * around);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = static_cast<std::byte>(mix(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(pe)));
    }
    pes.write(pe, src, mine.data(), mine.size());
  }
  for (const scope by : all_scopes) {
    for (const bool get_it : {false, true}) {
      for (int pe = 0; pe < n; ++pe) pes.fill(pe, dst, 0x5a, bytes + 2 * around);
      pes.run(shape, copy_once<T>{{dst.offset + around}, {src.offset + around + misaligned_by}, count, by, get_it});
      for (int pe = 0; pe < n; ++pe) {
        const int from = get_it ? (pe + 1) % n : (pe + n - 1) % n;
        const auto& sent = data[static_cast<std::size_t>(from)];
        std::vector<std::byte> expected(bytes + 2 * around, std::byte{0x5a});
        for (std::size_t i = 0; i < bytes; ++i) expected[around + i] = sent[around + misaligned_by + i];
        std::vector<std::byte> seen(expected.size());
        pes.read(pe, dst, seen.data(), seen.size());
        ASSERT_TRUE(seen == expected) << count << " of " << sizeof(T) << " bytes, source +" << misaligned_by
                                      << ", scope " << static_cast<int>(by) << (get_it ? ", get" : ", put") << ", PE "
                                      << pe << " of " << n << ", " << shape.threads << " threads";
      }
    }
  }
}

TEST(rma, copies_of_every_size) {
  for (const grid_shape& shape : grids()) {
    for (const std::size_t bytes : sizes{0, 1, 3, 15, 16, 17, 1000, 4096, 4097, 65'536}) {
      ASSERT_NO_FATAL_FAILURE(copies<char>(2, shape, bytes, 0));
      ASSERT_NO_FATAL_FAILURE(copies<char>(2, shape, bytes, 5));
    }
  }
}

TEST(rma, copies_of_a_mebibyte_and_3) {
  for (int n : {1, 3, 4}) {
    ASSERT_NO_FATAL_FAILURE(copies<char>(n, grids().back(), (std::size_t{1} << 20) + 3, 0));
    ASSERT_NO_FATAL_FAILURE(copies<char>(n, grids().back(), (std::size_t{1} << 20) + 3, 9));
  }
}

TEST(rma, copies_of_other_types) {
  for (const grid_shape& shape : grids()) {
    for (const std::size_t count : sizes{1, 5, 333, 5000}) {
      ASSERT_NO_FATAL_FAILURE(copies<float>(2, shape, count, 0));
      ASSERT_NO_FATAL_FAILURE(copies<float>(2, shape, count, 4));
      ASSERT_NO_FATAL_FAILURE(copies<four_words>(2, shape, count, 0));
      ASSERT_NO_FATAL_FAILURE(copies<std::uint64_t>(2, shape, count, 8));
    }
  }
}

/// All 16 x 16 alignments of byte copies of several sizes, each into a separate part of the destination.
struct all_alignments {
  static constexpr std::size_t n_sizes = 11;
  static constexpr std::size_t cell = 1088;  // room for the largest size, its alignment, and the memory around it

  sym<char> dst;
  sym<char> src;
  scope by;
  bool get_it;

  PGAS_HD static std::size_t bytes_of(std::size_t i) {
    constexpr std::size_t sizes[n_sizes] = {1, 15, 16, 17, 31, 32, 33, 48, 100, 257, 1000};
    return sizes[i];
  }
  PGAS_HD static std::size_t place(std::size_t to, std::size_t from, std::size_t size) {
    return ((to * 16 + from) * n_sizes + size) * cell + 32 + to;
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    with_scope(by, block, [&](const auto& group) {
      for (std::size_t to = 0; to < 16; ++to) {
        for (std::size_t from = 0; from < 16; ++from) {
          for (std::size_t i = 0; i < n_sizes; ++i) {
            char* const target = dst.at(ctx) + place(to, from, i);
            const char* const source = src.at(ctx) + from;
            if (get_it) {
              get_nbi(ctx, group, target, source, bytes_of(i), right);
            } else {
              put_nbi(ctx, group, target, source, bytes_of(i), right);
            }
          }
        }
      }
    });
  }
};

TEST(rma, every_alignment) {
  constexpr std::size_t total = 256 * all_alignments::n_sizes * all_alignments::cell;
  for (const grid_shape& shape : grids()) {
    if (shape.blocks != 1) continue;
    pe_set pes(2, {.heap_bytes = std::size_t{8} << 20});
    const auto dst = pes.allocate<char>(total);
    const auto src = pes.allocate<char>(2048);
    std::vector<char> data(2048);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(mix(static_cast<std::uint32_t>(i)));
    for (int pe = 0; pe < 2; ++pe) pes.write(pe, src, data.data(), data.size());
    std::vector<char> expected(total, 0x5a);
    for (std::size_t to = 0; to < 16; ++to) {
      for (std::size_t from = 0; from < 16; ++from) {
        for (std::size_t i = 0; i < all_alignments::n_sizes; ++i) {
          std::memcpy(expected.data() + all_alignments::place(to, from, i), data.data() + from,
                      all_alignments::bytes_of(i));
        }
      }
    }
    std::vector<char> seen(total);
    for (const scope by : all_scopes) {
      for (const bool get_it : {false, true}) {
        for (int pe = 0; pe < 2; ++pe) pes.fill(pe, dst, 0x5a, total);
        pes.run(shape, all_alignments{dst, src, by, get_it});
        for (int pe = 0; pe < 2; ++pe) {
          pes.read(pe, dst, seen.data(), total);
          std::size_t at = 0;
          while (at < total && seen[at] == expected[at]) ++at;
          const std::size_t in = at / all_alignments::cell;
          ASSERT_EQ(at, total) << "to +" << in / all_alignments::n_sizes / 16 << ", from +"
                               << in / all_alignments::n_sizes % 16 << ", "
                               << all_alignments::bytes_of(in % all_alignments::n_sizes) << " bytes, byte "
                               << at % all_alignments::cell << " of the place, scope " << static_cast<int>(by)
                               << (get_it ? ", get" : ", put") << ", " << shape.threads << " threads";
        }
      }
    }
  }
}

/// When put() returns, the program may reuse the source. So in every round the test overwrites the source immediately.
/// Sources in private memory of a thread are tested as well.
struct reuse_source {
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> source;
  findings found;
  std::uint32_t n_rounds;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    constexpr std::uint32_t n = 700;
    const std::int32_t right = (ctx.my_pe() + 1) % ctx.n_pes();
    std::uint32_t* const mine = source.at(ctx);
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      for (std::uint32_t i = rank; i < n; i += size) mine[i] = mix(i, round);
      block.sync();
      put(ctx, block, inbox.at(ctx), mine, n, right);
      for (std::uint32_t i = rank; i < n; i += size) mine[i] = 0;
      std::uint32_t private_words[6];
      for (std::uint32_t i = 0; i < 6; ++i) private_words[i] = mix(rank, i, round);
      put(ctx, inbox.at(ctx) + n + rank * 6, private_words, 6, right);
      barrier(ctx, block);
      for (std::uint32_t i = rank; i < n; i += size) found.equal(ctx, i, mix(i, round), inbox.at(ctx)[i]);
      for (std::uint32_t i = 0; i < 6; ++i)
        found.equal(ctx, 10'000 + i, mix(rank, i, round), inbox.at(ctx)[n + rank * 6 + i]);
      get(ctx, private_words, inbox.at(ctx) + n + rank * 6, 6, right);
      for (std::uint32_t i = 0; i < 6; ++i) found.equal(ctx, 20'000 + i, mix(rank, i, round), private_words[i]);
      barrier(ctx, block);
    }
  }
};

TEST(rma, source_may_be_reused) {
  for (const grid_shape& shape : grids()) {
    if (shape.blocks != 1) continue;
    pe_set pes(3);
    const auto inbox = pes.allocate<std::uint32_t>(8000);
    const auto source = pes.allocate<std::uint32_t>(700);
    const findings found = make_findings(pes);
    pes.run(shape, reuse_source{inbox, source, found, static_cast<std::uint32_t>(rounds(300))});
    expect_nothing_found(pes, found);
  }
}

}  // namespace
