// Channels for values in registers: values of every size with any group, to neighbours in a ring, among all members of
// a team, and among threads that are not synchronized; channels that are closed and reopened; numbers that wrap around.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// The value of a message.
template <class T>
PGAS_FN T value_of(std::uint32_t from, std::uint32_t round, std::uint32_t rank) {
  T result;
  auto* const bytes = reinterpret_cast<unsigned char*>(&result);
  for (std::uint32_t k = 0; k < sizeof(T); ++k) bytes[k] = static_cast<unsigned char>(mix(from * 64 + k, round, rank));
  return result;
}

/// Calls f(context). If all PEs are direct, the context is sometimes a direct_context.
template <bool Direct = true, class F>
PGAS_FN void with_some_context(const context& ctx, std::uint32_t choice, const F& f) {
  if constexpr (Direct) {
    if (choice % 2 == 1 && ctx.routes_ == nullptr && ctx.team().members_ == nullptr && !ctx.checks())
      return f(direct_context(ctx));
  }
  f(ctx);
}

/// Sets the state of a channel to the state after `number` messages in each direction.
void set_progress(pe_set& pes, sym<packet_line> box, std::size_t lines, std::size_t tile_lines, std::uint32_t number) {
  for (int pe = 0; pe < pes.n_pes() && number != 0; ++pe) {
    std::vector<packet_line> all(lines);
    for (std::size_t tile = 0; tile < lines; tile += tile_lines) {
      for (std::uint64_t i = 0; i < 16; i += 2) all[tile].words[i] = std::uint64_t{number} << 32 | number;
    }
    pes.write(pe, box, all.data(), lines);
  }
}

/// Every thread repeatedly sends different values to both neighbours. From time to time its group reopens the channels.
/// The threads of a group make different numbers of rounds.
template <class T>
struct ring_body {
  test_team team;
  sym<packet_line> from_left;
  sym<packet_line> from_right;
  findings found;
  std::uint32_t n_rounds;

  template <class Context, class Group>
  PGAS_FN void some_rounds(const Context& ctx, const Group& g, std::uint32_t first, std::uint32_t end) const {
    const context known = ctx;
    const auto me = static_cast<std::uint32_t>(ctx.my_pe());
    const std::int32_t before = last_member(known);
    const std::int32_t behind = next_member(known);
    packet_line* const here_left = from_left.at(known);
    packet_line* const here_right = from_right.at(known);
    ll_channel<T> left(ctx, g, here_left, here_right, before);
    ll_channel<T> right(ctx, g, here_right, here_left, ctx.peer(behind));
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const std::uint32_t of_left = 2 * static_cast<std::uint32_t>(before) + 1;
    const std::uint32_t of_right = 2 * static_cast<std::uint32_t>(behind);
    PGAS_ROLLED
    for (std::uint32_t round = first; round < end + rank % 3; ++round) {
      send(ctx, left, value_of<T>(2 * me, round, rank));
      send(ctx, right, value_of<T>(2 * me + 1, round, rank));
      if (round % 2 == 0) expect(known, receive(ctx, left), of_left, round, rank);
      expect(known, receive(ctx, right), of_right, round, rank);
      if (round % 2 == 1) expect(known, receive(ctx, left), of_left, round, rank);
    }
  }
  PGAS_FN void expect(const context& ctx, const T& seen, std::uint32_t from, std::uint32_t round,
                      std::uint32_t rank) const {
    found.equal(ctx, std::uint64_t{round} << 32 | rank, 1, same_bytes(seen, value_of<T>(from, round, rank)) ? 1 : 0);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.block_rank() != 0) return;
    PGAS_ROLLED
    for (std::uint32_t first = 0; first < n_rounds; first += 10) {
      with_scope(static_cast<scope>(first / 10 % 3), block, [&](const auto& g) {
        constexpr bool aligned = alignof(T) > 1;  // the many types with alignment 1 use only the general context
        with_some_context<aligned>(ctx, first / 30, [&](const auto& some) { some_rounds(some, g, first, first + 10); });
      });
    }
  }
};

template <class T>
void run_ring(const team_shape& shape, grid_shape grid, int n_rounds, std::uint32_t before = 0, bool checks = false) {
  pe_set pes(shape.n_pes, {.checks = checks});
  const std::size_t lines = ll_lines<T>(grid.threads);
  const auto from_left = pes.allocate<packet_line>(lines);
  const auto from_right = pes.allocate<packet_line>(lines);
  for (const auto box : {from_left, from_right})
    set_progress(pes, box, lines, detail::ll_tile_lines(1, detail::packets_of_value<T>), before);
  const ring_body<T> body{make_team(pes, shape.members, shape.as_list), from_left, from_right, make_findings(pes),
                          static_cast<std::uint32_t>(n_rounds)};
  pes.run(grid, body);
  expect_nothing_found(pes, body.found);
}

TEST(ll_channel, neighbours_of_any_team_by_any_group) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : blocks()) run_ring<std::uint64_t>(shape, grid, rounds(10'000));
  }
}

template <std::size_t... Bytes>
void run_sizes(std::index_sequence<Bytes...>, grid_shape grid) {
  (run_ring<packet<Bytes + 1, 1>>({"2", 2, {0, 1}}, grid, rounds(500)), ...);
}

TEST(ll_channel, values_of_1_to_16_bytes) {
  for (const grid_shape& grid : blocks()) {
    run_sizes(std::make_index_sequence<16>{}, grid);
    run_ring<std::uint16_t>({"2", 2, {0, 1}}, grid, rounds(500));
    run_ring<float>({"2", 2, {0, 1}}, grid, rounds(500));
    run_ring<packet<12, 4>>({"2", 2, {0, 1}}, grid, rounds(500));
    run_ring<packet<16, 16>>({"2", 2, {0, 1}}, grid, rounds(500));
  }
}

TEST(ll_channel, with_checks) { run_ring<float>({"3", 3, {0, 1, 2}}, blocks().back(), rounds(500), 0, true); }

TEST(ll_channel, numbers_start_again) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const std::uint32_t left : {3u, 4u, 9u}) {
      run_ring<std::uint32_t>(shape, blocks().back(), no_more_than_asked(40), 0u - left);
      run_ring<packet<16, 8>>(shape, blocks().back(), no_more_than_asked(40), 0u - left);
    }
  }
}

/// An operation that is not commutative, so the result shows the order in which values were combined.
struct digits {
  PGAS_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a * 11 + b; }
};

/// Rounds of all kinds among all members, in series of ten. In the middle of a series, the channel is closed and
/// reopened between the sends and the receives. In a series, the values go either always to all members, or always to
/// the other members.
struct team_body {
  enum kind : std::uint32_t {
    each_alone,
    backwards,
    personal,
    one_of_them,
    each_in_turn,
    reduced,
    ordered,
    n_kinds_to_all,
    others_in_turn = n_kinds_to_all,
    others_reduced,
    each_of_the_others,
    one_of_the_others,
    n_kinds
  };
  template <ll_to To>
  using channel_to = ll_team_channel<std::uint64_t, To>;

  test_team team;
  sym<packet_line> box;
  sym<packet_line> wide_box;
  sym<packet_line> counted_box;
  findings found;
  std::uint32_t n_rounds;

  PGAS_FN static std::uint32_t name(std::int32_t from, std::int32_t to) {
    return static_cast<std::uint32_t>(from * 16 + to);
  }
  template <ll_to To>
  PGAS_FN static std::uint32_t kind_of(std::uint32_t round) {
    if constexpr (To == ll_to::others) return n_kinds_to_all + mix(round) % (n_kinds - n_kinds_to_all);
    return mix(round) % n_kinds_to_all;
  }
  template <ll_to To, class Context>
  PGAS_FN void begin(const Context& ctx, channel_to<To>& channel, std::uint32_t round, std::uint32_t rank) const {
    const std::int32_t me = ctx.my_pe();
    if constexpr (To == ll_to::others) {
      broadcast_to_others(ctx, channel, mix64(name(me, 0), round, rank));
    } else if (kind_of<To>(round) == personal) {
      send_each(ctx, channel, [=](std::int32_t to) { return mix64(name(me, to), round, rank); });
    } else {
      broadcast(ctx, channel, mix64(name(me, 0), round, rank));
    }
  }
  /// The sum of all values of a round, and the values combined in the order of members.
  struct sums {
    std::uint64_t sum = 0;
    std::uint64_t in_order = 0;
  };
  PGAS_FN static sums sums_of(std::int32_t n, std::uint32_t round, std::uint32_t rank) {
    sums all;
    for (std::int32_t from = 0; from < n; ++from) {
      const std::uint64_t value = mix64(name(from, 0), round, rank);
      all.sum += value;
      all.in_order = from == 0 ? value : digits{}(all.in_order, value);
    }
    return all;
  }
  template <class Context>
  PGAS_FN void finish(const Context& ctx, channel_to<ll_to::all>& channel, std::uint32_t round,
                      std::uint32_t rank) const {
    const context known = ctx;
    const std::int32_t me = ctx.my_pe();
    const std::int32_t n = ctx.n_pes();
    const std::uint32_t how = kind_of<ll_to::all>(round);
    const std::int32_t to = how == personal ? me : 0;
    const std::uint64_t where = std::uint64_t{round} << 32 | how << 24 | rank;
    if (how == reduced) {
      found.equal(known, where, sums_of(n, round, rank).sum, receive_reduce(ctx, channel, op::sum{}));
    } else if (how == ordered) {
      found.equal(known, where, sums_of(n, round, rank).in_order, receive_reduce(ctx, channel, digits{}));
    } else if (how == each_in_turn) {
      std::int32_t expected = 0;
      receive_each(ctx, channel, [&](std::int32_t from, std::uint64_t value) {
        found.equal(known, where, expected++, from);
        found.equal(known, where, mix64(name(from, 0), round, rank), value);
      });
      found.equal(known, where, n, expected);
    } else {
      const std::int32_t count = how == one_of_them ? 1 : n;
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t from = how == backwards ? n - 1 - i : (i + static_cast<std::int32_t>(round)) % n;
        found.equal(known, where, mix64(name(from, to), round, rank), receive(ctx, channel, from));
      }
    }
  }
  template <class Context>
  PGAS_FN void finish(const Context& ctx, channel_to<ll_to::others>& channel, std::uint32_t round,
                      std::uint32_t rank) const {
    const context known = ctx;
    const std::int32_t n = ctx.n_pes();
    const std::uint32_t how = kind_of<ll_to::others>(round);
    const std::uint64_t mine = mix64(name(ctx.my_pe(), 0), round, rank);
    const std::uint64_t where = std::uint64_t{round} << 32 | how << 24 | rank;
    if (how == others_reduced) {
      found.equal(known, where, sums_of(n, round, rank).in_order, receive_reduce(ctx, channel, mine, digits{}));
    } else if (how == others_in_turn) {
      std::int32_t expected = 0;
      receive_each(ctx, channel, mine, [&](std::int32_t from, std::uint64_t value) {
        found.equal(known, where, expected++, from);
        found.equal(known, where, mix64(name(from, 0), round, rank), value);
      });
      found.equal(known, where, n, expected);
    } else {
      const std::int32_t count = how == one_of_the_others ? 1 : n;
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t from = (i + static_cast<std::int32_t>(round)) % n;
        found.equal(known, where, mix64(name(from, 0), round, rank), receive(ctx, channel, from, mine));
      }
    }
  }

  template <ll_to To, class Context, class Group>
  PGAS_FN void open_rounds(const Context& ctx, const Group& g, std::uint32_t first) const {
    const context known = ctx;
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    {
      channel_to<To> channel(ctx, g, known.team(), box.at(known));
      PGAS_ROLLED
      for (std::uint32_t round = first; round < first + 5; ++round) {
        begin<To>(ctx, channel, round, rank);
        if (round < first + 4) finish(ctx, channel, round, rank);
      }
    }
    channel_to<To> channel(ctx, g, known.team(), box.at(known));
    PGAS_ROLLED
    for (std::uint32_t round = first + 4; round < first + 10; ++round) {
      if (round > first + 4) begin<To>(ctx, channel, round, rank);
      finish(ctx, channel, round, rank);
    }
  }
  /// This code counts the rounds from 0, because the box contains zeros. In every third round, the channel that sends
  /// also receives.
  template <ll_to To, class Context, class Group>
  PGAS_FN void counted_round(const Context& ctx, const Group& g, std::uint32_t round) const {
    const context known = ctx;
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto value_of = [&](std::int32_t pe) { return mix64(name(pe, 1), round, rank); };
    std::uint64_t sum = 0;
    for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) sum += value_of(pe);
    const std::uint64_t mine = value_of(ctx.my_pe());
    const auto receive_with = [&](channel_to<To>& channel) {
      if constexpr (To == ll_to::others) {
        found.equal(known, round, sum, receive_reduce(ctx, channel, mine, op::sum{}));
      } else if (round % 4 == 1) {
        for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe)
          found.equal(known, round, value_of(pe), receive(ctx, channel, pe));
      } else {
        found.equal(known, round, sum, receive_reduce(ctx, channel, op::sum{}));
      }
    };
    {
      channel_to<To> channel(ctx, g, known.team(), counted_box.at(known), {round});
      if constexpr (To == ll_to::others)
        broadcast_to_others(ctx, channel, mine);
      else
        broadcast(ctx, channel, mine);
      if (round % 3 == 0) receive_with(channel);
    }
    if (round % 3 == 0) return;
    channel_to<To> channel(ctx, g, known.team(), counted_box.at(known), {round + 1});
    receive_with(channel);
  }

  template <class Context, class Group>
  PGAS_FN void ten_rounds(const Context& ctx, const Group& g, std::uint32_t first) const {
    const context known = ctx;
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    if (mix(first) % 3 != 0)
      open_rounds<ll_to::all>(ctx, g, first);
    else
      open_rounds<ll_to::others>(ctx, g, first);
    for (std::uint32_t round = first; round < first + 10; ++round) {
      if (round % 2 == 0)
        counted_round<ll_to::others>(ctx, g, round);
      else
        counted_round<ll_to::all>(ctx, g, round);
    }
    ll_team_channel<indexed<double>> wide(ctx, g, known.team(), wide_box.at(known));
    const auto place_of = [&](std::int32_t pe) {
      return static_cast<double>(mix(static_cast<std::uint32_t>(pe), first, rank) % 5);
    };
    broadcast(ctx, wide, {place_of(ctx.my_pe()), ctx.my_pe()});
    std::int64_t largest = 0;
    for (std::int32_t pe = 1; pe < ctx.n_pes(); ++pe) {
      if (place_of(pe) > place_of(static_cast<std::int32_t>(largest))) largest = pe;
    }
    found.equal(known, std::uint64_t{first} << 32 | rank, largest, receive_reduce(ctx, wide, op::maxloc{}).index);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.block_rank() != 0) return;
    PGAS_ROLLED
    for (std::uint32_t first = 0; first < n_rounds; first += 10) {
      with_scope(static_cast<scope>(first / 10 % 3), block, [&](const auto& g) {
        with_some_context(ctx, first / 30, [&](const auto& some) { ten_rounds(some, g, first); });
      });
    }
  }
};

void run_team(const team_shape& shape, grid_shape grid, int n_rounds, std::uint32_t before = 0, bool checks = false) {
  pe_set pes(shape.n_pes, {.checks = checks});
  const std::size_t members = shape.members.size();
  const std::size_t lines = ll_lines<std::uint64_t>(grid.threads, members);
  const auto box = pes.allocate<packet_line>(lines);
  set_progress(pes, box, lines, detail::ll_tile_lines(members, 1), before);
  if (before != 0) {  // all messages up to round `before` were received
    for (int pe = 0; pe < pes.n_pes(); ++pe) {
      for (std::size_t tile = 0; tile < lines; tile += detail::ll_tile_lines(members, 1)) {
        const std::uint64_t progress[16] = {before, 0, before, 0, before, 0, before, 0,
                                            before, 0, before, 0, before, 0, before, 0};
        pes.write(pe, sym<std::uint64_t>{(box + tile).offset}, progress, 16);
      }
    }
  }
  const team_body body{make_team(pes, shape.members, shape.as_list),
                       box,
                       pes.allocate<packet_line>(ll_lines<indexed<double>>(grid.threads, members)),
                       pes.allocate<packet_line>(lines),
                       make_findings(pes),
                       static_cast<std::uint32_t>(n_rounds)};
  pes.run(grid, body);
  expect_nothing_found(pes, body.found);
}

TEST(ll_channel, all_members_of_any_team) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : blocks()) run_team(shape, grid, rounds(10'000));
  }
}

TEST(ll_channel, all_members_with_checks) { run_team({"3", 3, {0, 1, 2}}, blocks().back(), rounds(500), 0, true); }

TEST(ll_channel, rounds_start_again) {
  for (const team_shape& shape : few_team_shapes()) {
    for (const std::uint32_t left : {4u, 5u, 9u}) run_team(shape, blocks().back(), no_more_than_asked(40), 0u - left);
  }
}

/// Values in 16-bit formats are added as floats and rounded once.
struct half_body {
  sym<packet_line> box;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    ll_team_channel<float16> channel(ctx, ctx.team(), box.at(ctx));
    // if the numbers were added one after another in 16 bits, 0.75 would be lost
    broadcast(ctx, channel, float16(ctx.my_pe() == 0 ? 2048.0F : 0.75F));
    found.check(ctx, 1, receive_reduce(ctx, channel, op::sum{}) == float16(2050.25F));
  }
};

TEST(ll_channel, small_floats_are_rounded_once) {
  pe_set pes(4);
  const half_body body{pes.allocate<packet_line>(ll_lines<float16>(1, 4)), make_findings(pes)};
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
}

}  // namespace
