// Packet channels: messages of any length and type with any groups, to neighbours in a ring and back and forth;
// channels that are closed and reopened; numbers that wrap around; refused calls; and the record if a message is
// missing.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

constexpr std::size_t longest =
    3000;  // the largest message in bytes: several units for some threads, and less than one unit for some groups

/// The value of element `i` of a message.
template <class T>
PGAS_FN T element(std::uint32_t from, std::uint32_t round, std::uint32_t i) {
  T result;
  auto* const bytes = reinterpret_cast<unsigned char*>(&result);
  for (std::size_t k = 0; k < sizeof(T); ++k)
    bytes[k] = static_cast<unsigned char>(
        mix(from, round, i * static_cast<std::uint32_t>(sizeof(T)) + static_cast<std::uint32_t>(k)));
  return result;
}

/// The boxes of the two channels of every PE, and memory for messages. The channels connect the PEs in a ring.
template <class T>
struct ring_memory {
  sym<packet_line> from_left;
  sym<packet_line> from_right;
  sym<T> out;
  sym<T> in;
  findings found;

  static constexpr std::uint32_t most = static_cast<std::uint32_t>(longest / sizeof(T));
  static constexpr std::uint32_t room = most + 64;

  explicit ring_memory(pe_set& pes)
      : from_left(pes.allocate<packet_line>(packet_lines(longest))),
        from_right(pes.allocate<packet_line>(packet_lines(longest))),
        out(pes.allocate<T>(2 * room)),
        in(pes.allocate<T>(2 * room)),
        found(make_findings(pes)) {}

  /// The number of elements of a message: none, few or many.
  PGAS_FN static std::uint32_t length(std::uint32_t from, std::uint32_t round) {
    return mix(from, round, 7) % ((most >> mix(from, round, 8) % 10) + 1);
  }
  template <class Group>
  PGAS_FN const T* write(const context& ctx, const Group& g, std::uint32_t from, std::uint32_t round,
                         std::uint32_t side) const {
    T* const src = out.at(ctx) + side * room + round % 3;
    const auto size = static_cast<std::uint32_t>(g.size());
    for (auto i = static_cast<std::uint32_t>(g.thread_rank()); i < length(from, round); i += size)
      src[i] = element<T>(from, round, i);
    return src;  // the group has not called sync(), so send() must order the stores of the group's threads
  }
  /// Receives a message, and checks its data and the memory around it.
  template <class Group>
  PGAS_FN void read(const context& ctx, const Group& g, packet_channel& channel, std::uint32_t from,
                    std::uint32_t round, std::uint32_t side) const {
    T* const dst = in.at(ctx) + side * room + 1 + round % 5;
    const std::uint32_t n = length(from, round);
    const T before = element<T>(~0u, round, side);
    if (g.thread_rank() == 0) dst[-1] = dst[n] = before;
    g.sync();
    receive(ctx, g, channel, dst, n);
    const auto size = static_cast<std::uint32_t>(g.size());
    for (auto i = static_cast<std::uint32_t>(g.thread_rank()); i < n; i += size)
      found.equal(ctx, 1000 * (side + 1) + i, 1, same_bytes(dst[i], element<T>(from, round, i)) ? 1 : 0);
    found.equal(ctx, 1, 1, same_bytes(dst[-1], before) ? 1 : 0);
    found.equal(ctx, 2, 1, same_bytes(dst[n], before) ? 1 : 0);
    g.sync();
  }
};

/// Every member repeatedly sends different data to both neighbours. From time to time another group reopens its
/// channels. The members have different groups.
template <class T>
struct ring_body {
  test_team team;
  ring_memory<T> memory;
  std::uint32_t n_rounds;

  template <class Group>
  PGAS_FN void some_rounds(const context& ctx, const Group& g, std::uint32_t first, std::uint32_t end) const {
    const auto me = static_cast<std::uint32_t>(ctx.my_pe());
    const std::int32_t before = last_member(ctx);
    const std::int32_t behind = next_member(ctx);
    packet_line* const from_left = memory.from_left.at(ctx);
    packet_line* const from_right = memory.from_right.at(ctx);
    packet_channel channels[2] = {{ctx, g, from_left, from_right, longest, before},
                                  {ctx, g, from_right, from_left, longest, behind}};
    const std::uint32_t theirs[2] = {2 * static_cast<std::uint32_t>(before) + 1,
                                     2 * static_cast<std::uint32_t>(behind)};
    PGAS_ROLLED
    for (std::uint32_t round = first; round < end; ++round) {
      PGAS_ROLLED
      for (std::uint32_t side = 0; side < 2; ++side) {
        const T* const src = memory.write(ctx, g, 2 * me + side, round, side);
        send(ctx, g, channels[side], src, memory.length(2 * me + side, round));
      }
      PGAS_ROLLED
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t side = (i + round) % 2;
        memory.read(ctx, g, channels[side], theirs[side], round, side);
      }
    }
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.block_rank() != 0) return;
    PGAS_ROLLED
    for (std::uint32_t first = 0; first < n_rounds; first += 10) {
      const auto who = static_cast<scope>((first / 10 + static_cast<std::uint32_t>(ctx.my_pe())) % 3);
      const std::uint32_t end = first + 10 < n_rounds ? first + 10 : n_rounds;
      with_scope(who, block, [&](const auto& g) { some_rounds(ctx, g, first, end); });
    }
  }
};

/// @param before the number of messages that the channels have sent before the test. At the start, the boxes are full
/// of later numbers. If `before` is the last number, the half that sending this number clears is empty
template <class T>
void run_ring(const team_shape& shape, grid_shape grid, int n_rounds, std::uint32_t before = 0, bool checks = false) {
  pe_set pes(shape.n_pes, {.checks = checks});
  const ring_memory<T> memory(pes);
  for (int pe = 0; pe < pes.n_pes() && before != 0; ++pe) {
    std::vector<packet_line> box(packet_lines(longest));
    for (std::size_t i = before == ~0u ? 1 + detail::packet_half_lines(longest) : 1; i < box.size(); ++i) {
      for (std::uint64_t& word : box[i].words) word = std::uint64_t{2 + i % 9} << 32 | 0xa5a5a5a5;
    }
    const detail::box_header header{before, before, {0, 0}};
    std::memcpy(static_cast<void*>(box.data()), &header, sizeof header);
    pes.write(pe, memory.from_left, box.data(), box.size());
    pes.write(pe, memory.from_right, box.data(), box.size());
  }
  pes.run(grid,
          ring_body<T>{make_team(pes, shape.members, shape.as_list), memory, static_cast<std::uint32_t>(n_rounds)});
  expect_nothing_found(pes, memory.found);
}

TEST(packet_channel, neighbours_of_any_team_by_any_group) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : blocks()) run_ring<std::uint32_t>(shape, grid, rounds(500));
  }
}

TEST(packet_channel, elements_of_any_kind) {
  const team_shape pair{"2", 2, {0, 1}};
  for (const grid_shape& grid : blocks()) {
    run_ring<unsigned char>(pair, grid, rounds(500));
    run_ring<std::uint16_t>(pair, grid, rounds(500));
    run_ring<double>(pair, grid, rounds(500));
    run_ring<packet<16, 16>>(pair, grid, rounds(500));
    run_ring<packet<3, 1>>(pair, grid, rounds(500));
    run_ring<packet<20, 4>>(pair, grid, rounds(500));
    run_ring<packet<48, 8>>(pair, grid, rounds(500));
  }
}

TEST(packet_channel, with_checks) { run_ring<float>({"3", 3, {0, 1, 2}}, blocks().back(), rounds(200), 0, true); }

TEST(packet_channel, numbers_start_again) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const grid_shape& grid : blocks()) {
      for (const std::uint32_t left : {1u, 2u, 3u, 8u})
        run_ring<std::uint32_t>(shape, grid, no_more_than_asked(40), 0u - left);
    }
  }
}

/// PE 0 sends, and PE 1 answers with a message of another length that is made from the received data. From time to time
/// a message is empty.
struct ping_pong_body {
  sym<packet_line> box;
  sym<std::uint64_t> data;
  findings found;
  scope by;
  std::uint32_t n_rounds;

  static constexpr std::uint32_t most = longest / 8;
  PGAS_FN static std::uint32_t length(std::uint32_t message) { return message % 7 == 3 ? 0 : mix(message) % most; }

  template <class Group>
  PGAS_FN void play(const context& ctx, const Group& g) const {
    packet_channel channel(ctx, g, box.at(ctx), box.at(ctx), longest, 1 - ctx.my_pe());
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    std::uint64_t* const mine = data.at(ctx);
    PGAS_ROLLED
    for (std::uint32_t message = 0; message < 2 * n_rounds; ++message) {
      const bool sends = (message & 1) == static_cast<std::uint32_t>(ctx.my_pe());
      const std::uint32_t n = length(message);
      if (sends) {
        for (std::uint32_t i = rank; i < n; i += size) mine[i] = mix64(message, i);
        send(ctx, g, channel, mine, n);
        g.sync();
      } else {
        receive(ctx, g, channel, mine, n);
        for (std::uint32_t i = rank; i < n; i += size) found.equal(ctx, message, mix64(message, i), mine[i]);
        g.sync();
      }
    }
  }
  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() == 0) with_scope(by, block, [&](const auto& g) { play(ctx, g); });
  }
};

TEST(packet_channel, back_and_forth) {
  for (const grid_shape& grid : blocks()) {
    pe_set pes(2);
    ping_pong_body body{pes.allocate<packet_line>(packet_lines(longest)),
                        pes.allocate<std::uint64_t>(ping_pong_body::most), make_findings(pes), scope::thread,
                        static_cast<std::uint32_t>(rounds(2'000))};
    for (const scope by : all_scopes) {
      body.by = by;
      pes.run(grid, body);  // continues with the same boxes
    }
    expect_nothing_found(pes, body.found);
  }
}

/// Messages to and from the stacks of threads, without a group.
struct stack_body {
  sym<packet_line> box;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    packet_channel channel(ctx, box.at(ctx), box.at(ctx), 24, 1 - ctx.my_pe());
    for (std::uint32_t round = 0; round < 20; ++round) {
      std::uint64_t words[3] = {mix64(round, 0), mix64(round, 1), mix64(round, 2)};
      send(ctx, channel, words, 3);
      for (std::uint64_t& word : words) word = 0;
      receive(ctx, channel, words, 3);
      for (std::uint32_t i = 0; i < 3; ++i) found.equal(ctx, i, mix64(round, i), words[i]);
    }
  }
};

TEST(packet_channel, from_and_to_any_memory) {
  pe_set pes(2);
  const stack_body body{pes.allocate<packet_line>(packet_lines(24)), make_findings(pes)};
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
}

enum class mistake { long_send, huge_send, long_receive, send_twice, receive_twice, outside, no_such_pe };

/// PE 0 makes an error. PE 1 sends the message that PE 0 waits for.
struct mistaken_body {
  sym<packet_line> box;
  sym<double> data;
  mistake which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    packet_line* const mine = box.at(ctx);
    double* const d = data.at(ctx);
    if (ctx.my_pe() == 0 && which == mistake::outside) packet_channel(ctx, block, mine + (1 << 20), mine, 80, 1);
    if (ctx.my_pe() == 0 && which == mistake::no_such_pe) packet_channel(ctx, block, mine, mine, 80, 2);
    packet_channel channel(ctx, block, mine, mine, 80, 1 - ctx.my_pe());
    if (ctx.my_pe() != 0) return send(ctx, block, channel, d, 1);
    switch (which) {
      case mistake::long_send: return send(ctx, block, channel, d, 17);
      // 8 bytes if the multiplication wraps around
      case mistake::huge_send: return send(ctx, block, channel, d, (std::size_t{1} << 61) + 1);
      case mistake::long_receive: return receive(ctx, block, channel, d, 17);
      case mistake::send_twice: send(ctx, block, channel, d, 1); return send(ctx, block, channel, d, 1);
      default: receive(ctx, block, channel, d, 1); return receive(ctx, block, channel, d, 1);
    }
  }
};

TEST(packet_channel, mistakes_are_refused) {
  using detail::failure;
  using detail::operation;
  const auto caught = [](mistake which, operation what, failure why, bool checks) {
    pe_set pes(2, {.checks = checks});
    const mistaken_body body{pes.allocate<packet_line>(packet_lines(80)), pes.allocate<double>(20), which};
    expect_caught(pes, body, what, why);
    return pes.control(0).record;
  };
  EXPECT_EQ(caught(mistake::long_send, operation::send, failure::too_long, false).bytes, 136u);
  EXPECT_EQ(caught(mistake::huge_send, operation::send, failure::too_long, false).bytes, ~std::uint64_t{0});
  EXPECT_EQ(caught(mistake::long_receive, operation::receive, failure::too_long, false).expected, 128u);
  EXPECT_EQ(caught(mistake::send_twice, operation::send, failure::out_of_turn, false).pe, 1);
  EXPECT_EQ(caught(mistake::receive_twice, operation::receive, failure::out_of_turn, false).seen, 0u);
  caught(mistake::outside, operation::receive, failure::outside_heap, true);
  caught(mistake::no_such_pe, operation::receive, failure::pe_out_of_range, true);
}

/// PE 1 does not answer.
struct silent_body {
  sym<packet_line> box;
  sym<double> data;
  scope by;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == 1 || block.block_rank() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      packet_channel channel(ctx, g, box.at(ctx), box.at(ctx), 800, 1);
      send(ctx, g, channel, data.at(ctx), 100);
      receive(ctx, g, channel, data.at(ctx), 100);
    });
  }
};

TEST(packet_channel, a_pe_that_does_not_send_is_named) {
  for (const scope by : all_scopes) {
    pe_set pes(2, {.timeout = std::chrono::milliseconds(200)});
    const silent_body body{pes.allocate<packet_line>(packet_lines(800)), pes.allocate<double>(100), by};
    ASSERT_TRUE(pes.run_out(blocks().back(), body)[0]);
    const detail::failure_record& record = pes.control(0).record;
    EXPECT_EQ(record.why, detail::failure::timed_out);
    EXPECT_EQ(record.what, detail::operation::receive);
    EXPECT_EQ(record.pe, 1);
    EXPECT_EQ(record.expected, 1u);
    EXPECT_EQ(record.seen, 0u);
  }
}

}  // namespace
