// A PE sends a tile, then a signal. A PE that sees the signal also sees the tile. This is tested with every way of
// sending and of reading, while other blocks keep the links busy. `--rounds` sets the number of rounds.
#include "one_sided.hpp"
#include "stress.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Each working block of a PE repeatedly sends a tile to the same block of the next PE, and overwrites its tile as soon
/// as the library allows this.
struct tiles_and_signals {
  /// The words of a tile. A tile that is sent in rows has two rows of half this size.
  static constexpr std::uint32_t words = 1024;
  static constexpr std::uint32_t room_words = 2 * words + 64;

  sym<std::uint32_t> inbox;  // the tiles of each working block
  sym<std::uint32_t> rooms;  // used in place of shared memory on the CPU; as large as `inbox`
  sym<signal_t> arrived;
  sym<signal_t> taken;
  findings found;
  background traffic;
  std::uint32_t n_working;
  std::uint32_t n_rounds;

  static std::uint32_t working_blocks(const stress_shape& shape) { return shape.channels; }

  /// The number of words that a round sends, and the offset of the source and of the destination from a boundary of 16
  /// bytes.
  struct shape {
    std::uint32_t n;
    std::uint32_t shift;
    std::uint32_t seed;
  };
  PGAS_FN static shape shape_of(std::uint32_t round, std::uint32_t which, std::int32_t pe) {
    const std::uint32_t r = mix(round, which, static_cast<std::uint32_t>(pe));
    const std::uint32_t n = r % 2 == 0 ? 8U << (r / 2 % 8) : r / 2 % (words - 4) + 1;  // up to 1024
    return {n < words - 4 ? n : words - 4, r / 4096 % 8 == 0 ? r / 65536 % 4 : 0, r};
  }

  /// One thread sends the tile. The tile may be overwritten when this function returns.
  PGAS_FN static void send(const context& ctx, bulk_copier& by, std::uint32_t* to, const std::uint32_t* tile,
                           const shape& s) {
    if (s.seed >> 20 & 1) {
      const std::uint32_t half = s.n / 2;
      const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(half);
      ibput_nbi(ctx, by, to, tile, step, step, half, 2, next_member(ctx));
      put_nbi(ctx, by, to + 2 * half, tile + 2 * half, s.n % 2, next_member(ctx));
    } else {
      put_nbi(ctx, by, to, tile, s.n, next_member(ctx));
    }
    flush(by);
  }

  /// Sends the signal, in one of the ways that order it after the tile.
  template <class Block>
  PGAS_FN void signal(const Block& block, const context& ctx, bulk_copier& by, std::uint32_t* to, signal_t* sig,
                      const shape& s, std::uint32_t round) const {
    const std::int32_t next = next_member(ctx);
    const bool sends = block.thread_rank() == 0;
    switch (s.seed >> 22 & 3) {
      case 0:
        if (sends) put_signal(ctx, by, to, to, 0, sig, round, signal_op::set, next);
        break;
      case 1:
        if (sends) {
          fence(ctx, by);
          signal_set(ctx, sig, round, next);
        }
        break;
      case 2:
        if (sends) {
          quiet(ctx, by);
          p(ctx, sig, round, next);
        }
        break;
      default:
        bulk_wait_all();
        put_signal(ctx, block, to, to, 0, sig, round, signal_op::set, next);
        break;
    }
  }

  template <class Block>
  PGAS_FN void work(const Block& block, const context& ctx, std::uint32_t which) const {
    auto* const shared = reinterpret_cast<std::uint32_t*>(detail::block_memory<room_words * 4>());
    std::uint32_t* const room = shared != nullptr ? shared : rooms.at(ctx) + std::size_t{which} * room_words;
    const mbarrier full(reinterpret_cast<std::uint64_t*>(room + 2 * words));
    std::uint32_t* const place = inbox.at(ctx) + std::size_t{which} * words;
    const bool sends = block.thread_rank() == 0;
    const std::int32_t last = last_member(ctx);
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    if (sends) full.init(1);
    block.sync();
    std::uint32_t phases = 0;
    bulk_copier by;
    PGAS_ROLLED
    for (std::uint32_t round = 1; round <= n_rounds; ++round) {
      const shape out = shape_of(round, which, ctx.my_pe());
      for (std::uint32_t i = rank; i < out.n; i += size) room[out.shift + i] = mix(i, round, out.seed);
      block.sync();
      if (sends) send(ctx, by, place + out.shift, room + out.shift, out);
      block.sync();
      for (std::uint32_t i = rank; i < out.n; i += size) room[out.shift + i] = 0xdead0000u + i;
      signal(block, ctx, by, place, arrived.at(ctx) + which, out, round);

      const shape in = shape_of(round, which, last);
      signal_wait_until(ctx, block, arrived.at(ctx) + which, cmp::ge, round);
      const std::uint32_t* read = place + in.shift;
      if (in.seed >> 24 & 1) {  // the copy unit reads the PE's own memory
        read = room + words + in.shift;
        if (sends) {
          full.arrive_and_expect(in.n * 4);
          get_nbi(ctx, full, room + words + in.shift, place + in.shift, in.n, ctx.my_pe());
        }
        full.wait(ctx, phases++ & 1);
      }
      for (std::uint32_t i = rank; i < in.n; i += size) found.equal(ctx, round, mix(i, round, in.seed), read[i]);
      block.sync();
      if (sends) {
        fence(ctx);
        signal_set(ctx, taken.at(ctx) + which, round, last);
      }
      signal_wait_until(ctx, block, taken.at(ctx) + which, cmp::ge, round);
    }
    if (sends) full.end();
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    traffic.beside(block, ctx, n_working, [&](std::uint32_t which) { work(block, ctx, which); });
  }
};

TEST(bulk_order, tiles_come_before_signals) {
  pe_set pes(3, {.heap_bytes = std::size_t{64} << 20});
  const stress_shape shape;
  const std::uint32_t working = tiles_and_signals::working_blocks(shape);
  const std::uint32_t n_rounds = stress_rounds(pes.n_pes());
  const tiles_and_signals body{pes.allocate<std::uint32_t>(std::size_t{working} * tiles_and_signals::words),
                               pes.allocate<std::uint32_t>(std::size_t{working} * tiles_and_signals::room_words),
                               pes.allocate<signal_t>(working),
                               pes.allocate<signal_t>(working),
                               make_findings(pes),
                               background(pes),
                               working,
                               n_rounds};
  run_stress("bulk_order.tiles_come_before_signals", pes, body, body.found, n_rounds);
}

}  // namespace
