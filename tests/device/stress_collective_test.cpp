// Long tests of operations that use packets or barriers, with other traffic at the same time. Pairs of PEs send
// messages through channels of two PEs, and all PEs send messages through channels of all PEs: no packet may be torn or
// mistaken for another packet. The tests also call collectives of all kinds and sizes, by several blocks at the same
// time.
#include "stress.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

PGAS_HD constexpr std::uint32_t word_of(std::int32_t pe, std::uint32_t block, std::uint32_t round, std::uint32_t i) {
  return mix(static_cast<std::uint32_t>(pe) * 100 + block, round, i);
}
/// Short and long lengths are equally frequent.
PGAS_HD constexpr std::uint32_t length_of(std::uint32_t a, std::uint32_t round, std::uint32_t log2_most) {
  return mix(a, round, 1) % (1u << mix(a, round, 2) % (log2_most + 1)) + 1;
}

/// In each round, blocks with the same number k on two PEs send each other a message.
struct packet_channels {
  static constexpr std::uint32_t log2_most = 10;  // words
  static constexpr std::size_t box_bytes = std::size_t{4} << log2_most;
  static constexpr std::size_t room = (std::size_t{1} << log2_most) + 8;

  sym<packet_line> boxes;
  sym<std::uint32_t> out;
  sym<std::uint32_t> in;
  background noise;
  findings found;
  std::uint32_t n_channels;
  std::uint32_t n_rounds;

  [[nodiscard]] static unsigned working_blocks(const stress_shape& shape) { return shape.channels; }

  template <class Block>
  PGAS_FN void exchange(const Block& block, const context& ctx, std::uint32_t k) const {
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    const auto other = static_cast<std::int32_t>(static_cast<std::uint32_t>(ctx.my_pe()) ^ (1 + k % (n - 1)));
    packet_line* const box = boxes.at(ctx) + k * packet_lines(box_bytes);
    packet_channel channel(ctx, block, box, box, box_bytes, other);
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      std::uint32_t* const src = out.at(ctx) + k * room + round % 5;
      std::uint32_t* const dst = in.at(ctx) + k * room + round % 7;
      const std::uint32_t mine = length_of(k * 16 + static_cast<std::uint32_t>(ctx.my_pe()), round, log2_most);
      const std::uint32_t theirs = length_of(k * 16 + static_cast<std::uint32_t>(other), round, log2_most);
      for (std::uint32_t i = rank; i < mine; i += size) src[i] = word_of(ctx.my_pe(), k, round, i);
      send(ctx, block, channel, src, mine);
      receive(ctx, block, channel, dst, theirs);
      for (std::uint32_t i = rank; i < theirs; i += size)
        found.equal(ctx, std::uint64_t{round} << 32 | k << 16 | i, word_of(other, k, round, i), dst[i]);
      block.sync();
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    noise.beside(block, ctx, n_channels, [&](std::uint32_t k) { exchange(block, ctx, k); });
  }
};

void packets(int n) {
  const unsigned n_channels = stress_shape().channels;
  pe_set pes(n, {.heap_bytes = std::size_t{8} << 20});
  const packet_channels body{pes.allocate<packet_line>(n_channels * packet_lines(packet_channels::box_bytes)),
                             pes.allocate<std::uint32_t>(n_channels * packet_channels::room),
                             pes.allocate<std::uint32_t>(n_channels * packet_channels::room),
                             background(pes),
                             make_findings(pes),
                             n_channels,
                             stress_rounds(n)};
  run_stress("packets", pes, body, body.found, body.n_rounds);
}

TEST(stress, packets_between_2) { packets(2); }
TEST(stress, packets_between_4) { packets(4); }

/// In each round, each thread of block k sends a value to the thread with the same rank on another PE, and then to all
/// PEs, without synchronization with its neighbours. Each half of a packet shows to which value the half belongs.
struct values {
  struct quad {
    std::uint32_t w[4];
  };

  sym<packet_line> boxes;
  sym<packet_line> team_boxes;
  background noise;
  findings found;
  std::uint32_t n_channels;
  std::uint32_t n_rounds;

  [[nodiscard]] static unsigned working_blocks(const stress_shape& shape) { return shape.channels; }

  PGAS_FN static quad value(std::int32_t from, std::uint32_t id, std::uint32_t round) {
    return {{word_of(from, id, round, 0), word_of(from, id, round, 1), word_of(from, id, round, 2),
             word_of(from, id, round, 3)}};
  }
  PGAS_FN void expect(const context& ctx, const quad& seen, std::int32_t from, std::uint32_t id,
                      std::uint32_t round) const {
    for (std::uint32_t i = 0; i < 4; ++i)
      found.equal(ctx, std::uint64_t{round} << 32 | id << 2 | i, value(from, id, round).w[i], seen.w[i]);
  }

  template <class Block>
  PGAS_FN void exchange(const Block& block, const context& ctx, std::uint32_t k) const {
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    const auto size = static_cast<std::uint32_t>(block.size());
    const std::uint32_t id = k * size + static_cast<std::uint32_t>(block.thread_rank());
    const auto other = static_cast<std::int32_t>(static_cast<std::uint32_t>(ctx.my_pe()) ^ (1 + k % (n - 1)));
    packet_line* const box = boxes.at(ctx) + k * ll_lines<quad>(size);
    ll_channel<quad> channel(ctx, block, box, box, other);
    ll_team_channel<quad> all(ctx, block, ctx.team(), team_boxes.at(ctx) + k * ll_lines<quad>(size, n));
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      const bool first = (ctx.my_pe() < other) == (round % 2 == 0);
      if (first || round % 3 == 0) send(ctx, channel, value(ctx.my_pe(), id, round));
      expect(ctx, receive(ctx, channel), other, id, round);
      if (!first && round % 3 != 0) send(ctx, channel, value(ctx.my_pe(), id, round));
      if (round % 8 != 0) continue;
      broadcast(ctx, all, value(ctx.my_pe(), id, ~round));
      for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) expect(ctx, receive(ctx, all, pe), pe, id, ~round);
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    noise.beside(block, ctx, n_channels, [&](std::uint32_t k) {
      exchange(block, ctx, k);
      block.sync();
    });
  }
};

void values_between(int n) {
  const stress_shape shape;
  pe_set pes(n, {.heap_bytes = std::size_t{8} << 20});
  const auto members = static_cast<unsigned>(n);
  const values body{pes.allocate<packet_line>(shape.channels * ll_lines<values::quad>(shape.threads)),
                    pes.allocate<packet_line>(shape.channels * ll_lines<values::quad>(shape.threads, members)),
                    background(pes),
                    make_findings(pes),
                    shape.channels,
                    stress_rounds(n)};
  run_stress("values", pes, body, body.found, body.n_rounds);
}

TEST(stress, values_between_2) { values_between(2); }
TEST(stress, values_between_4) { values_between(4); }

/// Block k takes part in collectives of all PEs on channel k, one after another.
struct collectives {
  static constexpr std::uint32_t log2_most = 10;  // words of a member
  static constexpr std::size_t most = std::size_t{1} << log2_most;

  sym<std::uint32_t> src;
  sym<std::uint32_t> dst;
  background noise;
  findings found;
  std::uint32_t n_channels;
  std::uint32_t n_rounds;

  [[nodiscard]] static unsigned working_blocks(const stress_shape& shape) { return shape.channels; }

  template <class Block>
  PGAS_FN void take_part(const Block& block, const context& ctx, std::uint32_t k) const {
    const team_view team = ctx.world().channel(static_cast<std::int32_t>(k));
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    const auto me = static_cast<std::uint32_t>(ctx.my_pe());
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    const std::size_t room = most * n;
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      std::uint32_t* const from = src.at(ctx) + k * room;
      std::uint32_t* const to = dst.at(ctx) + k * room;
      const std::uint32_t count = length_of(k, round, log2_most);
      const std::uint32_t kind = mix(k, round, 3) % 4;
      const std::uint32_t given = kind == 2 ? n * count : count;
      const std::uint32_t got = kind == 1 || kind == 2 ? n * count : count;
      const auto root = static_cast<std::int32_t>(round % n);
      // Before a PE stores into another PE's destination, it must know that the other PE no longer uses the
      // destination. LL packets do not show this.
      const bool by_packets = k == 0 && count * 4 <= 2048 && ctx.routes_ == nullptr;
      if (kind != 0 && !by_packets) barrier(ctx, block, team);
      for (std::uint32_t i = rank; i < given; i += size) from[i] = word_of(ctx.my_pe(), k, round, i);
      block.sync();
      switch (kind) {
        case 0: reduce(ctx, block, team, to, from, count, op::sum{}); break;
        case 1: fcollect(ctx, block, team, to, from, count); break;
        case 2: alltoall(ctx, block, team, to, from, count); break;
        default: broadcast(ctx, block, team, to, from, count, root); break;
      }
      for (std::uint32_t i = rank; i < got; i += size) {
        const auto member = static_cast<std::int32_t>(i / count);
        std::uint32_t expected = 0;
        switch (kind) {
          case 0:
            for (std::uint32_t pe = 0; pe < n; ++pe) expected += word_of(static_cast<std::int32_t>(pe), k, round, i);
            break;
          case 1: expected = word_of(member, k, round, i % count); break;
          case 2: expected = word_of(member, k, round, me * count + i % count); break;
          default: expected = word_of(root, k, round, i); break;
        }
        found.equal(ctx, std::uint64_t{round} << 32 | kind << 28 | k << 16 | i, expected, to[i]);
      }
      block.sync();
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    noise.beside(block, ctx, n_channels, [&](std::uint32_t k) { take_part(block, ctx, k); });
  }
};

void collectives_of(int n) {
  const unsigned n_channels = stress_shape().channels;
  const std::size_t room = collectives::most * static_cast<unsigned>(n);
  pe_set pes(n, {.heap_bytes = std::size_t{8} << 20});
  const collectives body{pes.allocate<std::uint32_t>(n_channels * room),
                         pes.allocate<std::uint32_t>(n_channels * room),
                         background(pes),
                         make_findings(pes),
                         n_channels,
                         stress_rounds(n)};
  run_stress("collectives", pes, body, body.found, body.n_rounds);
}

TEST(stress, collectives_of_2) { collectives_of(2); }
TEST(stress, collectives_of_4) { collectives_of(4); }

}  // namespace
